package hostile_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"

	"github.com/64ed045f/weir"
)

// errPlanned is what handlers panic with. No other panic may be in the log.
var errPlanned = errors.New("planned")

// handlers are what a request can ask for by its path, so that a fuzzer can, too. None of them writes
// the status 503, which is that of a refusal.
var handlers = map[string]func(s *site, w http.ResponseWriter, r *http.Request){
	"/": func(*site, http.ResponseWriter, *http.Request) {}, // leaves the body unread
	"/read": func(_ *site, w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	},
	"/echo": func(_ *site, w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
	"/some": func(_ *site, _ http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 1)) },
	"/big":  func(_ *site, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 8<<20)) },
	"/flush": func(_ *site, w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, "part\n")
			_ = http.NewResponseController(w).Flush()
		}
	},
	"/early": func(_ *site, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
	},
	"/trailer": func(_ *site, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Sum")
		_, _ = io.Copy(w, r.Body)
		w.Header().Set("Sum", r.Trailer.Get("Sum"))
	},
	"/form": func(_ *site, _ http.ResponseWriter, r *http.Request) { _ = r.ParseMultipartForm(100) },
	"/hijack": func(_ *site, w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := buffered.ReadString('\n')
		_, _ = io.WriteString(conn, line)
	},
	"/panic": func(*site, http.ResponseWriter, *http.Request) { panic(errPlanned) },
	"/late-panic": func(_ *site, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(errPlanned)
	},
	"/abort": func(*site, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"/exit":  func(*site, http.ResponseWriter, *http.Request) { runtime.Goexit() },
	"/gone": func(s *site, _ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-s.gate: // net/http does not see that a client is gone which has sent another request
		}
	},
	"/gate": func(s *site, _ http.ResponseWriter, _ *http.Request) {
		s.inside.Enter()
		defer s.inside.Leave()
		<-s.gate
	},
	"/probe": func(s *site, _ http.ResponseWriter, _ *http.Request) {
		if probe := s.probed.Load(); probe != nil {
			s.inside.Enter()
			defer s.inside.Leave()
			<-*probe
		}
	},
	"/nested": func(s *site, _ http.ResponseWriter, r *http.Request) {
		var group *weir.Group
		if s.pool != nil {
			group = s.pool.Group(r.Context())
		} else {
			group = weir.NewGroup(r.Context(), 2)
		}
		for range 3 {
			group.Go(func(context.Context) error { return nil })
		}
		_ = group.Wait() // the client may be gone
	},
}

// ServeHTTP is the handler behind what is attacked.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.isExempt(r) {
		return
	}
	s.running.Enter()
	defer s.running.Leave()
	s.look()
	if serve := handlers[r.URL.Path]; serve != nil {
		serve(s, w, r)
		return
	}
	http.NotFound(w, r)
}
