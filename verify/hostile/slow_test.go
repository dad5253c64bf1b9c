package hostile_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// trickle sends the text, a byte a second, until the text ends or the server closes the connection.
func (c *client) trickle(text string) {
	for i := range len(text) {
		time.Sleep(time.Second)
		if _, err := c.Write([]byte{text[i]}); err != nil {
			return
		}
	}
}

// taken is how many slots and places are taken or waited for.
func (s *site) taken() int {
	n := 0
	if s.limiter != nil {
		got := s.limiter.Stats()
		n += got.Running + got.Waiting
	}
	if s.pool != nil {
		got := s.pool.Stats()
		n += got.Running + got.Queued + got.Waiting
	}
	return n
}

func TestARequestTakesNothingBeforeItsHeaderIsComplete(t *testing.T) {
	atEach(t, func(t *testing.T, s *site) {
		head := get("/", "Key: a", "Connection: close")
		var slow []*client
		for range 10 * limit {
			c := s.dial(true)
			go c.trickle(head)
			slow = append(slow, c)
		}
		v := s.visitor()
		for range len(head) - 1 {
			time.Sleep(time.Second)
			synctest.Wait()
			check.Equal(t, "taken", s.taken(), 0)
		}
		status, took := v.visit("http://x/echo", "visitor")
		check.Equal(t, "a visitor: status", status, 200)
		check.Equal(t, "a visitor: took", took, 0)
		check.Equal(t, "requests that reached the handler", s.running.Entered.Load(), 1)
		// The last byte of them all comes at once.
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, c := range slow {
			if fate := c.fate(); fate != "200" && fate != "503" && fate != "queue-full" && fate != "key-full" && fate != "displaced" {
				t.Errorf("whose header is complete at last: %s", fate)
			}
		}
	})
}

// slowly opens as many connections as may run, each of which holds a slot by being slow in the same way. It returns
// for how long a visitor waits behind them. The visitor comes a second later.
func slowly(t *testing.T, set setting, request string, reads bool, configure func(*http.Server)) time.Duration {
	s := newSite(t, set, newPipes(), configure)
	for i := range s.most() {
		c := s.dial(reads)
		go c.send(strings.ReplaceAll(request, "{key}", string(rune('a'+i))))
		defer c.hangUp()
	}
	synctest.Wait()
	check.Equal(t, "handlers that run", s.running.Now.Load(), s.most())
	time.Sleep(time.Second) // the time of the visitor counts from its arrival, too
	status, took := s.visitor().visit("http://x/echo", "visitor")
	check.Equal(t, "a visitor: status", status, 200)
	synctest.Wait()
	check.Equal(t, "handlers that run when the slow ones are thrown out", s.running.Now.Load(), 0)
	check.Equal(t, "taken when the slow ones are thrown out", s.taken(), 0)
	s.end()
	return took
}

func TestTheServersTimeoutsFreeTheSlotOfASlowClient(t *testing.T) {
	reading := func(server *http.Server) { server.ReadTimeout = 10 * time.Second }
	writing := func(server *http.Server) { server.WriteTimeout = 10 * time.Second }
	for name, slow := range map[string]struct {
		request string
		reads   bool
		timeout func(*http.Server)
	}{
		"length":             {post("/read", "100", "hel", "Key: {key}"), true, reading},
		"chunks":             {chunked("/read", "64\r\nhel", "Key: {key}"), true, reading},
		"expect":             {post("/read", "100", "", "Key: {key}", "Expect: 100-continue"), true, reading},
		"form":               {post("/form", "100", "--b\r\n", "Key: {key}", "Content-Type: multipart/form-data; boundary=b"), true, reading},
		"a large answer":     {get("/big", "Key: {key}"), false, writing},
		"an answer in parts": {get("/flush", "Key: {key}"), false, writing},
		"an echo":            {post("/echo", "5000", strings.Repeat("x", 5000), "Key: {key}"), false, writing},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, set setting) {
				took := slowly(t, set, slow.request, slow.reads, slow.timeout)
				check.Equal(t, "a visitor waits for", took, 9*time.Second)
			})
		})
	}
}

// A refused client that sends nothing of its body costs a goroutine, as the documentation says,
// but nothing that others could use, and no longer than the server's ReadTimeout.
func TestARefusalComesBeforeTheBodyAndReadTimeoutEndsTheConnection(t *testing.T) {
	inEach(t, func(t *testing.T, set setting) {
		for name, request := range map[string]string{
			"short":   post("/read", "100", ""),
			"long":    post("/read", "100000", ""),
			"longer":  post("/read", "1000000000", ""),
			"chunks":  chunked("/read", ""),
			"waiting": post("/read", "100", "", "Expect: 100-continue"),
		} {
			s := newSite(t, set, newPipes(), func(server *http.Server) { server.ReadTimeout = 10 * time.Second })
			crowd, _ := s.gather()
			taken := s.taken()
			c := s.dial(true)
			begin := time.Now()
			c.send(strings.Replace(request, "\r\n\r\n", "\r\nKey: z\r\nPriority: -1\r\n\r\n", 1))
			synctest.Wait()
			check.Equal(t, name+": taken", s.taken(), taken)
			if set.name == "newest first" {
				check.Equal(t, "displaced", s.limiter.Stats().Displaced, 2)
			}
			if name == "short" { // which mostly comes with the header
				time.Sleep(10 * time.Second)
				synctest.Wait()
			}
			answer := c.heard.String()
			check.Equal(t, name+": status", append(statuses(answer), 0)[0], http.StatusServiceUnavailable)
			check.Equal(t, name+": says that it closes", strings.Contains(answer, "Connection: close"), true)
			c.hear()
			atMost(t, name+": time to the end", int64(time.Since(begin)), int64(11*time.Second))
			for _, one := range crowd {
				one.hangUp()
			}
			s.end()
		}
	})
}

func TestMaxWaitEndsAWaitOnTime(t *testing.T) {
	const maxWait = 3 * time.Second
	inEach(t, func(t *testing.T, set setting) {
		if set.bare {
			return // Do bounds no wait
		}
		set.opts = append(slices.Clip(set.opts), weirhttp.MaxWait(maxWait))
		s := newSite(t, set, newPipes())
		crowd, want := s.gather()
		time.Sleep(maxWait - 1)
		fates(t, "just before", crowd, want)
		time.Sleep(time.Nanosecond)
		if set.do { // which has no bound for what the Limiter has let in
			want = strings.Replace(want, "waits", "is here", 1)
		}
		fates(t, "on time", crowd, strings.ReplaceAll(want, "waits", "too-late"))
		s.end()
	})
}
