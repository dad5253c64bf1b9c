package hostile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/rounds"
	"github.com/64ed045f/weir/weirhttp"
)

var drawn = rounds.Flags("hostile", patience)

// Many requests come at once, without a network between, and are given up or come too late at any moment.
func TestOfManyRequestsAtOnceEachIsServedOrRefusedOnce(t *testing.T) {
	drawn.Each(t, check.Size(200*time.Millisecond, time.Second/2, time.Second), func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		set := settings[r.IntN(len(settings))]
		if !set.bare {
			set.opts = append(slices.Clip(set.opts), weirhttp.MaxWait(time.Duration(1+r.IntN(2000))*time.Microsecond))
		}
		s := newSite(t, set, newPipes())
		var clients sync.WaitGroup
		for range 10 {
			r := rand.New(rand.NewPCG(r.Uint64(), 0))
			clients.Go(func() {
				for range 20 {
					s.hurry(r)
				}
			})
		}
		clients.Wait()
		s.end()
	})
}

// hurry sends a request to the handler of the site, with a context that may end at any moment.
func (s *site) hurry(r *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), []time.Duration{0, time.Duration(r.IntN(100)) * time.Microsecond, time.Hour}[r.IntN(3)])
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, []string{"/", "/read", "/nested", "/health"}[r.IntN(4)], http.NoBody)
	request.Header.Set("Key", fmt.Sprint(r.IntN(3)))
	request.Header.Set("Priority", fmt.Sprint(r.IntN(3)))
	answer := httptest.NewRecorder()
	s.receive(answer, request)
	want := []int{http.StatusOK, http.StatusServiceUnavailable}
	if s.do && request.URL.Path == "/health" { // which is not exempt there
		want[0] = http.StatusNotFound
	}
	if ctx.Err() == nil && !slices.Contains(want, answer.Code) {
		s.Errorf("the status of a request is %d, want one of %d", answer.Code, want)
	}
}
