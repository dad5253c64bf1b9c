package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/64ed045f/weir/weirhttp"
)

// load is the traffic of a shop: customers that order again and again, and a supplier.
type load struct {
	shop      *shop
	url       string // address to which customers post orders
	transport *weirhttp.Transport
	giftAfter time.Duration // if it is above 0, a customer orders two gifts after this time
}

func newLoad(s *shop, url string, giftAfter time.Duration) *load {
	return &load{s, url, &weirhttp.Transport{PerHost: 6, Base: new(http.Transport)}, giftAfter}
}

// run makes the traffic until ctx is done, and returns when all customers have their answers.
func (l *load) run(ctx context.Context) {
	var all sync.WaitGroup
	defer l.transport.CloseIdleConnections()
	defer all.Wait()
	for range 6 {
		all.Go(func() {
			for pause(ctx, 100, 500) == nil {
				l.order(ctx, "")
			}
		})
	}
	all.Go(func() {
		for burst := 0; ctx.Err() == nil; burst++ {
			l.supply(burst)
			_ = pause(ctx, 9_000, 11_000) // the loop checks whether ctx is done
		}
	})
	if l.giftAfter > 0 {
		all.Go(func() {
			select {
			case <-time.After(l.giftAfter):
				l.order(ctx, "To the best of all grandmothers")
				l.order(ctx, "For Ann")
			case <-ctx.Done():
			}
		})
	}
}

// order posts an order, and gives up after a while. It waits for the answer even if ctx is done meanwhile.
func (l *load) order(ctx context.Context, engraving string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	form := strings.NewReader(url.Values{"engrave": {engraving}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, form)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := http.Client{Transport: l.transport}
	response, err := client.Do(r)
	if err != nil {
		return // the shop is overloaded or closed
	}
	_, _ = io.Copy(io.Discard, response.Body) // for reuse of the connection
	_ = response.Body.Close()
}

// supply submits more pictures at once than the queue of the pool has room for. The pool rejects the rest.
func (l *load) supply(burst int) {
	for i := range 60 {
		_ = l.shop.thumbnails.TryInvoke(picture{fmt.Sprintf("%d-%d.jpeg", burst, i)}) // the pool counts what it rejects
	}
}
