package weir_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPromise02NeverMoreThanLimitTasksRunAtOnce(t *testing.T) {
	for _, limits := range [][2]int{{8, 3}, {8, 1}, {4, 2}, {2, 1}, {3, 3}} {
		check.Bubble(t, fmt.Sprintf("exactly, from %d to %d", limits[0], limits[1]), func(t *testing.T) {
			before, after := limits[0], limits[1]
			p := weir.New(before, weir.Queue(weir.Unbounded))
			defer p.Close()
			v := check.NewValve()
			for range 3 * before {
				check.OK(t, p.Submit(v.Hold))
			}
			synctest.Wait()
			check.Equal(t, "running at first", v.Running(), before)

			p.Resize(after)
			synctest.Wait()
			check.Equal(t, "running after Resize", v.Running(), before)
			for released := 1; released <= before; released++ {
				v.LetOne()
				synctest.Wait()
				check.Equal(t, fmt.Sprintf("running when %d have ended", released), v.Running(), max(before-released, after))
			}

			p.Resize(before)
			synctest.Wait()
			check.Equal(t, "running after Resize up", v.Running(), before)
			v.Open()
		})
	}

	for _, queue := range []int{0, 1, 64, weir.Unbounded} {
		t.Run("while it is resized/queue="+queueName(queue), func(t *testing.T) {
			check.Within(time.Minute, func() { peakUnderResize(t, queue) })
		})
	}
}

// peakUnderResize has producers that never stop, and a limit that changes.
func peakUnderResize(t *testing.T, queue int) {
	var (
		running   check.Gauge
		finished  atomic.Int64
		stop      atomic.Bool
		producing sync.WaitGroup
	)
	p := weir.New(4, weir.Queue(queue), weir.IdleTimeout(time.Microsecond), weir.OnPanic(func(*weir.Panic) {}))
	task := func() {
		running.Enter()
		runtime.Gosched()
		running.Leave()
		switch finished.Add(1) % 64 {
		case 0:
			panic("now and then")
		case 32:
			runtime.Goexit()
		}
	}
	for range 3 {
		producing.Go(func() {
			for n := 0; !stop.Load(); n++ {
				check.OK(t, p.Submit(task))
				if n%256 == 255 {
					p.Wait() // an unbounded queue must not grow without end
				}
			}
		})
	}
	dice := rand.New(rand.NewPCG(uint64(queue), 2))
	for range check.Scale(150, 40) {
		limit := 1 + dice.IntN(8)
		p.Resize(limit)
		// Every task that may have started before Resize returned is over
		// when this Wait returns; those that run now started under the new limit.
		p.Wait()
		running.Peak.Store(0)
		from := finished.Load()
		for finished.Load() < from+50 {
			runtime.Gosched()
		}
		if peak := running.Peak.Load(); peak > int64(limit) {
			t.Errorf("%d tasks ran at once, the limit was %d", peak, limit)
		}
	}
	stop.Store(true)
	producing.Wait()
	p.Close()
}

func TestResizeIsLive(t *testing.T) {
	check.Bubble(t, "a higher limit starts queued tasks at once", func(t *testing.T) {
		p := weir.New(1)
		v := check.NewValve()
		for range 10 {
			check.OK(t, p.Submit(v.Hold))
		}
		for _, limit := range []int{2, 3, 7} {
			p.Resize(limit)
			synctest.Wait()
			check.Equal(t, "running", v.Running(), limit)
			check.Equal(t, "limit", p.Stats().Limit, limit)
		}
		p.Resize(weir.Unbounded)
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 10)
		v.Open()
		p.Close()
	})
	check.Bubble(t, "a higher limit lets waiting submitters in", func(t *testing.T) {
		p := weir.New(1, weir.Queue(0))
		v := block(t, p, 1)
		for range 3 {
			go func() { check.OK(t, p.Submit(v.Hold)) }()
		}
		synctest.Wait()
		check.Equal(t, "waiting", p.Stats().Waiting, 3)
		p.Resize(3)
		synctest.Wait()
		check.Equal(t, "running", v.Running(), 3)
		check.Equal(t, "waiting", p.Stats().Waiting, 1)
		p.Resize(1)
		v.Open()
		p.Wait()
		synctest.Wait()
		p.Close()
		check.Equal(t, "ran", v.Ended.Load(), 4)
	})
	check.Bubble(t, "a lower limit ends idle workers at once", func(t *testing.T) {
		p := weir.New(8)
		block(t, p, 8).Open()
		synctest.Wait() // all are idle: of those on their way to it, a few more might end
		p.Resize(3)
		synctest.Wait()
		check.Equal(t, "workers", p.Stats().Workers, 3)
		p.Resize(8)
		block(t, p, 8).Open()
		p.Close()
	})
	check.Bubble(t, "a lower limit ends busy workers when they are done", func(t *testing.T) {
		p := weir.New(8)
		v := block(t, p, 8)
		p.Resize(3)
		v.Open()
		p.Wait()
		synctest.Wait()
		check.Equal(t, "workers", p.Stats().Workers, 3)
		p.Close()
	})
}

func TestALimitMayBeAMillionOrNone(t *testing.T) {
	for _, limit := range []int{1_000_000, weir.Unbounded} {
		check.Bubble(t, queueName(limit), func(t *testing.T) {
			p := weir.New(limit, weir.Queue(0))
			block(t, p, check.Scale(5_000, 1_000)).Open()
			p.Wait()
			check.Equal(t, "limit", p.Stats().Limit, limit)
			p.Resize(limit)
			p.Resize(2)
			v := block(t, p, 2)
			check.Error(t, p.TrySubmit(nothing), weir.ErrFull)
			v.Open()
			p.Close()
		})
	}
}
