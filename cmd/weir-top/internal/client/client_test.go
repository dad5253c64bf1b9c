package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/cmd/weir-top/internal/client"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

// network calls handlers by the hosts of requests, without a network.
type network map[string]http.HandlerFunc

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	handler := n[r.URL.Host]
	if handler == nil {
		return nil, errors.New("connection refused")
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		handler(w, r)
	}()
	select {
	case <-done:
		response := w.Result()
		response.Request = r
		return response, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func snapshot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(weirdebug.Snapshot{Time: time.Unix(1e9, 0)})
}

func ask(page string, n network, header http.Header) error {
	c, err := client.New(page, client.Options{Header: header, Transport: n})
	if err != nil {
		return err
	}
	_, err = c.Get(context.Background(), nil)
	return err
}

func TestTheQueryIsAddedToThatOfTheURL(t *testing.T) {
	var got, method string
	n := network{"host": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, method = r.URL.String()+" "+string(body), r.Method
		snapshot(w, r)
	}}
	c, err := client.New("host/debug/weir/?a=1&groups=&group=7&pool=2&worker=1#x", client.Options{Transport: n})
	check.Must(t, err)
	if _, err := c.Get(t.Context(), url.Values{"find": {"x&y"}}); err != nil || method != http.MethodGet || got != "http://host/debug/weir/?a=1&find=x%26y&format=json " {
		t.Errorf("%v %s %s", err, method, got)
	}
	if err := c.Post(t.Context(), url.Values{"pool": {"3"}}, url.Values{"do": {"resize"}, "limit": {"8"}}); err != nil || method != http.MethodPost ||
		got != "http://host/debug/weir/?a=1&format=json&pool=3 do=resize&limit=8" {
		t.Errorf("%v %s %s", err, method, got)
	}
	if got := c.Page(); got != "http://host/debug/weir/" {
		t.Errorf("the page is %q", got)
	}
}

func TestHeadersAndPasswordsGoToTheOwnHostAloneAndAreNotShown(t *testing.T) {
	const secret = "geheim"
	var seen []string
	see := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			seen = append(seen, fmt.Sprint(r.URL.Host, " ", user, ":", password, " ", r.Header.Get("X-Key"), r.Header.Get("Referer")))
			next(w, r)
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
	}
	for _, c := range []struct {
		network network
		want    string
	}{
		{network{"host": see(snapshot)}, "host me:geheim geheim"},
		{network{"host": see(redirect("http://sub.host/")), "sub.host": see(snapshot)}, "host me:geheim geheim, sub.host : "},
		{network{"host": see(redirect("https://host:1/")), "host:1": see(redirect("http://other/")), "other": see(snapshot)}, "host me:geheim geheim, host:1 : , other : "},
	} {
		seen = nil
		client, err := client.New("http://me:"+secret+"@host/?token="+secret, client.Options{Header: http.Header{"X-Key": {secret}}, Transport: c.network})
		check.Must(t, err)
		if _, err := client.Get(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if got := strings.Join(seen, ", "); got != c.want {
			t.Errorf("the hosts got %q, want %q", got, c.want)
		}
		if strings.Contains(client.Page(), secret) || strings.Contains(client.Page(), "me") {
			t.Errorf("the page is %q", client.Page())
		}
	}
	for page, n := range map[string]network{
		"http://me:geheim@down/?geheim":    nil,
		"http://me:geheim@host:geheim/":    nil,
		"ftp://me:geheim@host/":            nil,
		"http://me:geheim@host/\x7fgeheim": nil,
		"http://me:geheim@loop/?geheim":    {"loop": redirect("http://loop/")},
	} {
		if err := ask(page, n, nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: error %v", page, err)
		}
	}
}

func TestAHostHeaderIsThatOfTheRequest(t *testing.T) {
	var got string
	n := network{"127.0.0.1": func(w http.ResponseWriter, r *http.Request) {
		got = r.Host
		snapshot(w, r)
	}}
	if err := ask("127.0.0.1", n, http.Header{"Host": {"inside"}}); err != nil || got != "inside" {
		t.Errorf("%v, host %q", err, got)
	}
}

func TestAChangeIsNotRedirectedToAnotherHostNorMadeARequestForAPage(t *testing.T) {
	posts := 0
	for _, c := range []struct {
		to     string
		status int
		posts  int
	}{
		{"http://host/new", http.StatusTemporaryRedirect, 1},
		{"http://host/new", http.StatusFound, 0},
		{"http://other/", http.StatusTemporaryRedirect, 0},
	} {
		posts = 0
		arrive := func(w http.ResponseWriter, r *http.Request) {
			posts++
			snapshot(w, r)
		}
		n := network{"other": arrive, "host": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/new" {
				arrive(w, r)
				return
			}
			http.Redirect(w, r, c.to, c.status)
		}}
		page, err := client.New("http://host/", client.Options{Transport: n})
		check.Must(t, err)
		if err := page.Post(t.Context(), nil, url.Values{"do": {"pause"}}); (err == nil) != (c.posts == 1) || posts != c.posts {
			t.Errorf("%d to %s: %d posts, error %v", c.status, c.to, posts, err)
		}
	}
}

func TestWrongAnswersAreErrorsThatSayWhy(t *testing.T) {
	say := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	for want, handler := range map[string]http.HandlerFunc{
		"the server answers 404 Not Found: there is no pool 7": say(404, "text/plain; charset=utf-8", "there is no pool 7\nmore\n"),
		"the server answers 502 Bad Gateway":                   say(502, "text/html", "<html>"),
		"the server answers 403 Forbidden":                     say(403, "text/plain", ""),
		"the answer is not that of a page of weirdebug":        say(200, "text/html", "<html>"),
		"the answer is larger than 64 MiB":                     say(200, "application/json", strings.Repeat(" ", 64<<20+1)),
		"the answer has more than 262144 values":               say(200, "application/json", `{"pools":[`+strings.Repeat("{},", 1<<18)+`{}]}`),
	} {
		if err := ask("host", network{"host": handler}, nil); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for _, values := range []string{"{}", "null", "[null]", `{"pools":[]}`, `","`} {
		many := `{"pools":[` + strings.Repeat(values+",", 1<<18) + values + `]}`
		if err := ask("host", network{"host": say(200, "application/json", many)}, nil); err == nil || !strings.Contains(err.Error(), "values") {
			t.Errorf("of %s too many are read: %v", values, err)
		}
	}
	text := `{"time":"2026-01-01T00:00:00Z","program":"\"` + strings.Repeat(`,\\\",`, 1<<18) + `"}`
	if err := ask("host", network{"host": say(200, "application/json", text)}, nil); err != nil {
		t.Errorf("a text with commas is refused: %v", err)
	}
	if err := ask("host", network{"host": say(200, "application/json", "{}")}, nil); err == nil {
		t.Error("an object without a time is taken for a Snapshot")
	}
}

func TestASlowServerIsGivenUpAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := network{"host": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
		c, err := client.New("host", client.Options{Timeout: 3 * time.Second, Transport: n})
		check.Must(t, err)
		start := time.Now()
		_, err = c.Get(t.Context(), nil)
		if took := time.Since(start); took != 3*time.Second || err == nil || err.Error() != "the server has not answered within 3s" {
			t.Errorf("error %v after %v", err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Get(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after cancel", err)
		}
	})
}

func TestAURLMustBeOfAPage(t *testing.T) {
	for _, page := range []string{"", "http://", "file:///etc/passwd", "ftp://host/", "http://host:x/", "http://[::1"} {
		if c, err := client.New(page, client.Options{}); err == nil {
			t.Errorf("%q is accepted as %s", page, c.Page())
		}
	}
}

func TestAChangeWithoutAnAnswerMayHaveBeenMade(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, c := range map[string]struct {
		transport http.RoundTripper
		unsure    bool
	}{
		"broken":   {transport(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }), true},
		"not sent": {transport(func(*http.Request) (*http.Response, error) { return nil, refused }), false},
		"denied":   {network{"host": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }}, false},
	} {
		page, err := client.New("host/?next=http://x", client.Options{Transport: c.transport})
		check.OK(t, err)
		err = page.Post(t.Context(), nil, url.Values{"do": {"pause"}})
		if _, unsure := errors.AsType[*client.Unsure](err); err == nil || unsure != c.unsure {
			t.Errorf("%s: got error %v, unsure: %v", name, err, unsure)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
