package weirdebug

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/inside"
)

// Option is a setting of [Handler].
type Option interface{ apply(h *handler) }

type optionFunc func(h *handler)

func (f optionFunc) apply(h *handler) { f(h) }

// Control lets requests change pools. Such a request is a POST with the query pool=ID and a form: do=resize
// and limit=N, do=pause, or do=resume. Requests that a browser makes for a page of another site get status
// 403, see [http.CrossOriginProtection]. Control does not authenticate the client, and does not stop DNS
// rebinding, even on localhost: put a handler in front that does. See the package documentation.
func Control() Option {
	return optionFunc(func(h *handler) { h.control = http.NewCrossOriginProtection() })
}

// Handler returns a handler that shows the pools of the program. It may be mounted at any path that ends in a
// slash. It can serve any number of requests at once. Handler calls [weir.Watch].
func Handler(opts ...Option) http.Handler {
	h := new(handler)
	for _, o := range opts {
		inside.Must("weirdebug", o != nil, "option must not be nil", "nil")
		o.apply(h)
	}
	weir.Watch()
	return h
}

type handler struct {
	control *http.CrossOriginProtection // nil without Control
	rates   rates
}

// failure is an error of the client, with the status to answer.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func fail(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	err := h.serve(w, r)
	if f, ok := errors.AsType[*failure](err); ok {
		http.Error(w, f.text, f.status)
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) error {
	if path := r.URL.Path; strings.HasSuffix(r.Pattern, "/") && path != "" && !strings.HasSuffix(path, "/") { // StripPrefix leaves ""
		return fail(http.StatusNotFound, "there is no page %q; all have the path of the first, and a query", r.URL.Path)
	}
	v, err := parseView(r.URL.RawQuery)
	if err != nil {
		return err
	}
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
	case r.Method == http.MethodPost && h.control != nil && v.page == pagePool:
		return h.change(w, r, v)
	default:
		allowed := "GET, HEAD"
		if h.control != nil && v.page == pagePool {
			allowed += ", POST"
		}
		w.Header().Set("Allow", allowed)
		return fail(http.StatusMethodNotAllowed, "%s is not allowed here, but %s", r.Method, allowed)
	}
	return h.answer(w, r, v)
}

// change applies a form to a pool.
func (h *handler) change(w http.ResponseWriter, r *http.Request, v view) error {
	if err := h.control.Check(r); err != nil {
		return fail(http.StatusForbidden, "%v", err)
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<12)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return fail(http.StatusRequestEntityTooLarge, "the form is too large")
		}
		return fail(http.StatusBadRequest, "the form cannot be read: %v", err)
	}
	pool, err := find(v.pool)
	if err != nil {
		return err
	}
	switch do := r.PostForm.Get("do"); do {
	case "resize":
		text := r.PostForm.Get("limit")
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 {
			return fail(http.StatusBadRequest, "limit must be a whole number of at least 1, got %q", clip(text, 100))
		}
		pool.Resize(limit)
	case "pause":
		pool.Pause()
	case "resume":
		pool.Resume()
	default:
		return fail(http.StatusBadRequest, "do must be resize, pause or resume, got %q", clip(do, 100))
	}
	if v.json {
		return h.answer(w, r, v)
	}
	w.Header().Set("Location", "?"+v.query.Encode())
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// answer writes the page or JSON that the client asks for.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, v view) error {
	body, err := h.body(r.Context(), v)
	if err != nil {
		return err
	}
	contentType := "text/html; charset=utf-8"
	if v.json {
		contentType = "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error means that the client has gone
	return nil
}

// turns limits how many answers all handlers prepare at once. In a large program many answers at once would
// take all its memory and processors.
var turns = make(chan struct{}, 2)

// body waits for a turn and makes the answer. It fails if ctx is done before.
func (h *handler) body(ctx context.Context, v view) ([]byte, error) {
	var queues []exporter.Queue
	if v.page == pagePools {
		queues = exporter.Queues(ctx) // before the turn, as a server may not answer
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, fail(http.StatusServiceUnavailable, "the request has ended before its turn")
	}
	s, err := h.snapshot(v, queues)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if v.json {
		encoder := json.NewEncoder(&body)
		encoder.SetIndent("", " ")
		err = encoder.Encode(s)
	} else {
		err = pages.ExecuteTemplate(&body, v.page, newPage(v, s))
	}
	if err != nil {
		return nil, fail(http.StatusInternalServerError, "%v", err)
	}
	return body.Bytes(), nil
}

// view is what a query asks for.
type view struct {
	page    string // name of a template: one of those below
	pool    uint64 // for pagePool and pageStack
	group   uint64 // for pageStack, if pool is 0, and pageGroups; 0 for all
	worker  int    // for pageStack
	find    string
	lower   string // find in lower case
	longer  time.Duration
	hasLong bool // longer was given
	slow    time.Duration
	refresh int // seconds; -1 for the page's default
	json    bool
	query   url.Values // one value for each parameter
}

const (
	pagePools  = "pools"
	pagePool   = "pool"
	pageGroups = "groups"
	pageStack  = "stack"
)

// defaultSlow is the default for how long a task must run before a page marks it as a mistake.
const defaultSlow = 10 * time.Second

// parseView parses a query. It refuses parameters that it does not know.
func parseView(raw string) (view, error) {
	v := view{page: pagePools, slow: defaultSlow, refresh: -1}
	var err error
	if v.query, err = url.ParseQuery(raw); err != nil {
		return v, fail(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(v.query)) {
		values := v.query[name]
		value := values[len(values)-1]
		v.query.Set(name, value)
		if err := v.set(name, value); err != nil {
			return v, err
		}
	}
	switch {
	case v.worker > 0 && (v.pool > 0) == (v.group > 0):
		return v, fail(http.StatusBadRequest, "worker needs a pool or a group")
	case v.worker > 0:
		v.page = pageStack
	case v.group > 0 && !v.query.Has("groups"):
		return v, fail(http.StatusBadRequest, "group needs a worker, or groups")
	case v.pool > 0:
		v.page = pagePool
	case v.query.Has("groups"):
		v.page = pageGroups
	}
	return v, nil
}

func (v *view) set(name, value string) (err error) {
	switch name {
	case "find":
		value = strings.ToValidUTF8(value, "\uFFFD") // as in the page
		if len(value) > maxText {
			return fail(http.StatusBadRequest, "find must have at most %d bytes", maxText)
		}
		v.find, v.lower = value, strings.ToLower(value)
	case "groups":
	case "pool":
		v.pool, err = parseID(name, value)
	case "group":
		v.group, err = parseID(name, value)
	case "worker":
		var id uint64
		id, err = parseID(name, value)
		v.worker = int(min(id, 1<<30)) //nolint:gosec // it fits
	case "longer":
		v.hasLong = true
		v.longer, err = parseDuration(name, value, 0)
	case "slow":
		v.slow, err = parseDuration(name, value, 1)
	case "refresh":
		v.refresh, err = strconv.Atoi(value)
		if err != nil || v.refresh < 0 || v.refresh > 3600 {
			return fail(http.StatusBadRequest, "refresh must be from 0 to 3600 seconds, got %q", clip(value, 100))
		}
	case "format":
		v.json = value == "json"
		if !v.json && value != "html" {
			return fail(http.StatusBadRequest, "format must be html or json, got %q", clip(value, 100))
		}
	default:
		return fail(http.StatusBadRequest, "the query has no parameter %q", clip(name, 100))
	}
	return err
}

func parseID(name, value string) (uint64, error) {
	id, err := strconv.ParseUint(value, 10, 64)
	if err != nil || id == 0 {
		return 0, fail(http.StatusBadRequest, "%s must be a whole number of at least 1, got %q", name, clip(value, 100))
	}
	return id, nil
}

func parseDuration(name, value string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < least {
		return 0, fail(http.StatusBadRequest, "%s must be a duration such as 1.5s, got %q", name, clip(value, 100))
	}
	return d, nil
}

// with returns the query with the parameter set to value, or without the parameter if value is empty.
func (v view) with(name, value string) string {
	query := maps.Clone(v.query)
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	return query.Encode()
}

// settings are the parameters that links to other pages and forms keep.
var settings = []string{"longer", "refresh", "slow"}

// settings returns the settings of the query.
func (v view) settings() url.Values {
	query := make(url.Values)
	for _, name := range settings {
		if v.query.Has(name) {
			query.Set(name, v.query.Get(name))
		}
	}
	return query
}
