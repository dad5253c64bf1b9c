package client

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// guard adds the headers to requests for the page's own host, and to no others. It does so below net/http's
// client, which copies headers from one request to the next when the server redirects.
type guard struct {
	base   *url.URL
	header http.Header
	next   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, g.base) {
		return g.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	for name, values := range g.header {
		if name == "Host" {
			r.Host = values[0]
			continue
		}
		r.Header[name] = values
	}
	return g.next.RoundTrip(r)
}

// redirect limits redirects. It lets the POST of a change go only to the same origin, and only as a POST.
func (c *Client) redirect(next *http.Request, past []*http.Request) error {
	next.Header.Del("Referer") // it has the query
	switch {
	case len(past) > 5:
		return errors.New("the server redirects again and again")
	case past[0].Method == http.MethodPost && (next.Method != http.MethodPost || !sameOrigin(next.URL, c.base)):
		return errors.New("the server redirects the change to another page: give the URL of that")
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
