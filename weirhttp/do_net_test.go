package weirhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// inEach runs a test in each protocol, of a handler on a pool.
func inEach(t *testing.T, h http.HandlerFunc, test func(t *testing.T, s *server)) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			pool := weir.New(2)
			t.Cleanup(pool.Close)
			test(t, startServer(t, weirhttp.Do(pool, h), protocol.start))
		})
	}
}

func TestDoLetsItsHandlerStream(t *testing.T) {
	next := make(chan string)
	events := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		check.OK(t, control.SetWriteDeadline(time.Time{}))
		for event := range next {
			_, err := fmt.Fprintf(w, "data: %s\n\n", event)
			check.OK(t, err)
			check.OK(t, control.Flush())
		}
	}
	inEach(t, events, func(t *testing.T, s *server) {
		next = make(chan string, 1)
		next <- "first"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
		check.OK(t, err)
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		for _, event := range []string{"first", "second"} {
			want := "data: " + event + "\n\n"
			got := make([]byte, len(want))
			_, err := io.ReadFull(response.Body, got) // while the handler waits for the next
			check.OK(t, err)
			check.Equal(t, "event", string(got), want)
			if event == "first" {
				next <- "second"
			}
		}
		close(next)
		rest, err := io.ReadAll(response.Body)
		check.OK(t, err)
		check.Equal(t, "rest", string(rest), "")
	})
}

func TestDoLetsItsHandlerHijack(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	s := startServer(t, weirhttp.Do(pool, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("hijack: %v", err)
			return
		}
		defer conn.Close()
		line, err := buffered.ReadString('\n')
		check.OK(t, err)
		_, err = io.WriteString(conn, "echo "+line)
		check.OK(t, err)
	})), (*httptest.Server).Start)
	conn, answer := s.dial(t, "GET / HTTP/1.1\r\nHost: here\r\n\r\nhello\n")
	defer conn.Close()
	all, err := io.ReadAll(answer)
	check.OK(t, err)
	check.Equal(t, "answer", string(all), "echo hello\n")
}

func TestDoLetsItsHandlerReadWhileItWrites(t *testing.T) {
	inEach(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 {
			check.OK(t, http.NewResponseController(w).EnableFullDuplex())
		}
		part := make([]byte, 5)
		for range 3 {
			_, err := io.ReadFull(r.Body, part)
			check.OK(t, err)
			_, err = w.Write(part)
			check.OK(t, err)
			check.OK(t, http.NewResponseController(w).Flush())
		}
	}, func(t *testing.T, s *server) {
		source, sink := io.Pipe()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, source)
		check.OK(t, err)
		go func() {
			_, err := io.WriteString(sink, "hello")
			check.OK(t, err)
		}()
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		part := make([]byte, 5)
		for i := range 3 {
			_, err = io.ReadFull(response.Body, part)
			check.OK(t, err)
			check.Equal(t, "part", string(part), "hello")
			if i < 2 {
				_, err := io.WriteString(sink, "hello")
				check.OK(t, err)
			}
		}
		check.OK(t, sink.Close())
		_, err = response.Body.Read(part) // else the last Flush may find that the client has gone
		check.Equal(t, "error", err, io.EOF)
	})
}

func TestDoNeverRunsARequestWhoseClientHasHungUp(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			pool := weir.New(1)
			v := check.NewValve()
			served := make(chan string, 10)
			onPool := weirhttp.Do(pool, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				served <- r.URL.Path
				v.Hold()
			}))
			ended := make(chan string, 10)
			s := startServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				onPool.ServeHTTP(w, r)
				ended <- r.URL.Path
			}), protocol.start)

			first := make(chan error, 1)
			go func() {
				_, err := s.body(t, "/first")
				first <- err
			}()
			check.Equal(t, "served", <-served, "/first")

			ctx, hangUp := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/gone", http.NoBody)
			check.OK(t, err)
			gone := make(chan error, 1)
			go func() {
				response, err := s.Client().Do(r)
				if err == nil {
					err = response.Body.Close()
				}
				gone <- err
			}()
			check.Until(t, "the request is queued", func() bool { return pool.Stats().Queued == 1 })
			hangUp()
			if err := <-gone; err == nil {
				t.Error("the request was answered")
			}
			check.Equal(t, "ended while the first runs", <-ended, "/gone")
			v.Open()
			check.OK(t, <-first)
			pool.Close()
			check.Equal(t, "more served requests", len(served), 0)
		})
	}
}

func TestDoHasTheServerLogWhereAHandlerPanicked(t *testing.T) {
	inEach(t, func(http.ResponseWriter, *http.Request) { explode() }, func(t *testing.T, s *server) {
		if _, err := s.body(t, "/"); err == nil {
			t.Error("the request was answered")
		}
		// Over HTTP/2 the client hears of it before the log does.
		for _, want := range []string{"boom", "weirhttp_test.explode"} {
			check.Until(t, "the log has "+want, func() bool { return strings.Contains(s.log.String(), want) })
		}
	})
}

func TestDoHasTheServerAbortInSilence(t *testing.T) {
	for name, end := range map[string]func(){
		"ErrAbortHandler": func() { panic(http.ErrAbortHandler) },
		"Goexit":          runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(w http.ResponseWriter, _ *http.Request) {
				_, err := io.WriteString(w, "a part")
				check.OK(t, err)
				check.OK(t, http.NewResponseController(w).Flush())
				end()
			}, func(t *testing.T, s *server) {
				if b, err := s.body(t, "/"); err == nil {
					t.Errorf("the answer %q came to a clean end", b)
				}
				s.Close()
				check.Equal(t, "log", s.log.String(), "")
			})
		})
	}
}

func TestDoLeavesNoFileOfAForm(t *testing.T) {
	files := make(chan string, 1)
	inEach(t, func(_ http.ResponseWriter, r *http.Request) {
		check.OK(t, r.ParseMultipartForm(1))
		f, err := r.MultipartForm.File["file"][0].Open()
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		file, isFile := f.(*os.File)
		if !isFile {
			t.Errorf("the form is in a %T", f)
			return
		}
		files <- file.Name()
	}, func(t *testing.T, s *server) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("file", "name")
		check.OK(t, err)
		_, err = part.Write(make([]byte, 11<<20)) // net/http keeps 10 MiB more in memory than asked for
		check.OK(t, err)
		check.OK(t, w.Close())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, &form)
		check.OK(t, err)
		r.Header.Set("Content-Type", w.FormDataContentType())
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		check.OK(t, response.Body.Close())
		s.Close()
		name := <-files
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s is left behind: %v", name, err)
			check.OK(t, os.Remove(name))
		}
	})
}

func TestDoReportsThePatternThatAMuxHasFound(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	mux := http.NewServeMux()
	mux.Handle("/item/{id}", handler(func() {}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/item/7", http.NoBody)
	answerOf(weirhttp.Do(pool, mux), r)
	check.Equal(t, "pattern", r.Pattern, "/item/{id}")
}

func TestAHandlerOnAPoolFindsTheTrailersOfItsRequest(t *testing.T) {
	pool := weir.New(1)
	defer pool.Close()
	trailers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		check.OK(t, err)
		_, err = fmt.Fprint(w, r.Trailer)
		check.OK(t, err)
	})
	for name, h := range map[string]http.Handler{
		"plain": trailers,
		"Do":    weirhttp.Do(pool, trailers),
		"On":    weirhttp.Limit(trailers, 1, weirhttp.On(pool)),
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, h, (*httptest.Server).Start)
			for _, announced := range []string{"", "Trailer: Sum\r\n"} {
				conn, answer := s.dial(t, "POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"+announced+
					"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nSum: 42\r\n\r\n")
				defer conn.Close()
				response, err := http.ReadResponse(answer, nil)
				check.Must(t, err)
				defer response.Body.Close()
				all, err := io.ReadAll(response.Body)
				check.OK(t, err)
				check.Equal(t, "trailers, announced as "+announced, string(all), "map[Sum:[42]]")
			}
		})
	}
}
