package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/reuse"
	"github.com/64ed045f/weir/weirhttp"
)

// shop takes orders over HTTP. Each order is a tree of tasks of the pool orders, and ends with a letter. The
// supplier brings many pictures at a time. The work of the tasks is made up: mostly they sleep.
type shop struct {
	orders     *weir.Pool
	mail       *weir.FuncPool[letter]
	thumbnails *weir.FuncPool[picture]
	stock      *reuse.Keeper[connection]
	api        *weirhttp.Limiter

	last     atomic.Int64 // number of the last order
	engraver sync.Mutex   // the shop has only one
}

type (
	letter     struct{ order int64 }
	picture    struct{ name string }
	connection struct{} // to the database of the stock
)

func newShop() *shop {
	s := new(shop)
	logPanic := weir.OnPanic(func(p *weir.Panic) { slog.Warn("task panicked", "pool", p.Pool, "value", p.Value) })
	s.orders = weir.New(8, weir.Name("orders"))
	s.mail = weir.NewFunc(2, send, weir.Name("mail"), weir.Queue(20), logPanic)
	s.thumbnails = weir.NewFunc(2, shrink, weir.Name("thumbnails"), weir.Queue(40), logPanic)
	s.stock = reuse.NewKeeper(reuse.KeeperConfig[connection]{Capacity: 3, Open: open, IdleTimeout: time.Minute})
	s.api = weirhttp.Limit(http.HandlerFunc(s.takeOrder), 4, weirhttp.Queue(8))
	return s
}

// close waits until all accepted work of the shop is done, but no longer than ctx allows.
func (s *shop) close(ctx context.Context) error {
	_, mail := s.mail.Shutdown(ctx)
	_, thumbnails := s.thumbnails.Shutdown(ctx)
	_, orders := s.orders.Shutdown(ctx)
	for _, r := range s.orders.Running(0) { // none, unless a task is stuck
		orders = fmt.Errorf("%w\n%s has run since %s", orders, r.Label, r.Since.Format(time.TimeOnly))
	}
	return errors.Join(mail, thumbnails, orders, s.stock.Shutdown(ctx))
}

// takeOrder answers when the order is packed. The letter is sent later.
func (s *shop) takeOrder(w http.ResponseWriter, r *http.Request) {
	number := s.last.Add(1)
	err := s.pack(r.Context(), fmt.Sprint("order ", number), r.FormValue("engrave"))
	if err == nil {
		err = s.mail.InvokeContext(r.Context(), letter{number})
	}
	switch {
	case errors.Is(err, errTooLong):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		_, _ = fmt.Fprintln(w, "order", number, "is on its way") // an error means that the client has gone
	}
}

// pack makes the first of three groups, each in a task of the group before: the parcels of an order, the
// items of a parcel, and the needs of an item. Labels distinguish the tasks of different orders.
func (s *shop) pack(ctx context.Context, order, engraving string) error {
	parcels := s.orders.Group(weir.Label(ctx, order))
	parcels.Go(func(ctx context.Context) error { return s.packParcel(ctx, order+", parcel 1", engraving) })
	parcels.Go(func(ctx context.Context) error { return s.packParcel(ctx, order+", parcel 2", "") })
	return parcels.Wait()
}

func (s *shop) packParcel(ctx context.Context, parcel, engraving string) error {
	items := s.orders.Group(weir.Label(ctx, parcel))
	items.Go(func(ctx context.Context) error { return s.packItem(ctx, parcel+", pen", engraving) })
	items.Go(func(ctx context.Context) error { return s.packItem(ctx, parcel+", paper", "") })
	return items.Wait()
}

func (s *shop) packItem(ctx context.Context, item, engraving string) error {
	needs := s.orders.Group(weir.Label(ctx, item))
	needs.Go(func(ctx context.Context) error {
		return s.stock.Use(ctx, func(connection) error { return pause(ctx, 5, 30) })
	})
	if engraving != "" {
		needs.Go(func(context.Context) error { return s.engraveGift(engraving) })
	}
	return needs.Wait()
}

var errTooLong = errors.New("the engraving is too long")

// engraveGift has the engraver write text on the gift.
func (s *shop) engraveGift(text string) error {
	s.engraver.Lock()
	if len(text) > 20 {
		return errTooLong // the engraver stays locked forever: the drill of README.md looks for this mistake
	}
	time.Sleep(10 * time.Millisecond)
	s.engraver.Unlock()
	return nil
}

func send(l letter) {
	time.Sleep(between(10, 60))
	if l.order%200 == 0 {
		panic("the address has no town")
	}
}

func shrink(picture) { time.Sleep(between(60, 140)) }

func open(ctx context.Context) (connection, error) { return connection{}, pause(ctx, 20, 50) }

// pause stands for a wait for another machine.
func pause(ctx context.Context, low, high int) error {
	select {
	case <-time.After(between(low, high)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// between returns a random duration between low and high, in milliseconds.
func between(low, high int) time.Duration {
	return time.Duration(low+rand.IntN(high-low)) * time.Millisecond
}
