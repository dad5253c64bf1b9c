package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/64ed045f/weir/weirdebug"
)

// The bounds of an answer. A server can put very many values into a small text, such as null for each pool,
// which take much more memory than the text.
const (
	maxBytes  = 64 << 20
	maxValues = 1 << 18
	maxError  = 300
)

// Options are the options of a [Client].
type Options struct {
	Header    http.Header       // for each request to the page's own host
	Timeout   time.Duration     // for a request and its answer; 0 means 10 seconds
	Transport http.RoundTripper // nil means http.DefaultTransport
}

// Client asks one handler of package weirdebug. Any number of goroutines may call its methods at once.
type Client struct {
	base *url.URL
	http http.Client
}

// New returns a client for the page at that URL, which need not begin with http://. The URL may be that of any page of
// the handler: New removes from its query what selects a pool, a group or a task. A user and password in the URL are
// used for basic authentication.
func New(page string, opts Options) (*Client, error) {
	if scheme := page[:max(0, strings.IndexAny(page+"/", "/?#"))]; !strings.HasSuffix(scheme, ":") || !strings.HasPrefix(page[len(scheme):], "//") {
		page = "http://" + page
	}
	base, err := url.Parse(page)
	if err != nil {
		return nil, errors.New("the URL can't be understood") // err would quote the password
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("the URL must be like http://host/debug/weir/")
	}
	header := opts.Header.Clone()
	if user := base.User; user != nil {
		if header == nil {
			header = make(http.Header)
		}
		if header.Get("Authorization") == "" {
			password, _ := user.Password()
			r := http.Request{Header: header}
			r.SetBasicAuth(user.Username(), password)
		}
		base.User = nil
	}
	base.Fragment = ""
	query := base.Query()
	for _, name := range []string{"pool", "worker", "group", "groups"} { // from the address of another page of the handler
		query.Del(name)
	}
	base.RawQuery = query.Encode()
	c := &Client{base: base}
	c.http = http.Client{
		Timeout:       cmp.Or(opts.Timeout, 10*time.Second),
		Transport:     &guard{base: base, header: header, next: cmp.Or[http.RoundTripper](opts.Transport, http.DefaultTransport)},
		CheckRedirect: c.redirect,
	}
	return c, nil
}

// Page returns the URL of the page for display, without user, password and query.
func (c *Client) Page() string {
	page := *c.base
	page.RawQuery = ""
	return page.String()
}

// Get asks for the Snapshot of a query. It returns the error of ctx when ctx ends.
func (c *Client) Get(ctx context.Context, query url.Values) (*weirdebug.Snapshot, error) {
	_, snapshot, err := c.GetJSON(ctx, query)
	return snapshot, err
}

// GetJSON is like Get, but also returns the answer as JSON text.
func (c *Client) GetJSON(ctx context.Context, query url.Values) ([]byte, *weirdebug.Snapshot, error) {
	response, err := c.send(ctx, http.MethodGet, query, nil)
	if err != nil {
		return nil, nil, c.reason(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, refusal(response)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err != nil {
		return nil, nil, c.reason(err)
	}
	snapshot, err := parse(data)
	return data, snapshot, err
}

// Post has the handler change a pool as the form says. Without an answer, as when ctx ends first, its error is an
// [*Unsure]: the pool may have been changed all the same.
func (c *Client) Post(ctx context.Context, query, form url.Values) error {
	response, err := c.send(ctx, http.MethodPost, query, strings.NewReader(form.Encode()))
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" || response != nil { // it was not sent, or redirected
			return c.reason(err)
		}
		return &Unsure{c.reason(err)}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusal(response)
	}
	return nil
}

// Unsure is the error of a change that may have been made: there is no answer.
type Unsure struct{ Err error }

// Error returns the reason why there is no answer.
func (u *Unsure) Error() string { return u.Err.Error() }

func (u *Unsure) Unwrap() error { return u.Err }

func (c *Client) send(ctx context.Context, method string, query url.Values, body io.Reader) (*http.Response, error) {
	page := *c.base
	all := page.Query()
	maps.Copy(all, query)
	all.Set("format", "json")
	page.RawQuery = all.Encode()
	r, err := http.NewRequestWithContext(ctx, method, page.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return c.http.Do(r)
}

// parse decodes an answer, unless it is too large.
func parse(data []byte) (*weirdebug.Snapshot, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the answer is larger than %d MiB", maxBytes>>20)
	}
	if commas(data) >= maxValues {
		return nil, fmt.Errorf("the answer has more than %d values", maxValues)
	}
	var snapshot weirdebug.Snapshot
	if err := json.Unmarshal(data, &snapshot); err != nil || snapshot.Time.IsZero() {
		return nil, errors.New("the answer is not that of a page of weirdebug")
	}
	return &snapshot, nil
}

// commas counts the commas of a JSON text, except those in strings.
func commas(data []byte) (n int) {
	in := false // inside a string
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			in = !in
		case c == '\\' && in:
			i++
		case c == ',' && !in:
			n++
		}
	}
	return n
}

// refusal returns an error with the status and message of the server.
func refusal(response *http.Response) error {
	status := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	text, err := io.ReadAll(io.LimitReader(response.Body, maxError))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if kind := response.Header.Get("Content-Type"); err != nil || line == "" || !strings.HasPrefix(kind, "text/plain") {
		return errors.New("the server answers " + status)
	}
	return fmt.Errorf("the server answers %s: %s", status, line)
}

// reason returns the cause of err without the URL that net/http puts before it.
func (c *Client) reason(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
		return fmt.Errorf("the server has not answered within %v", c.http.Timeout)
	}
	return err
}
