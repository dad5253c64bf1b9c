package values

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/race"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// countedLock counts how often a goroutine has come back from a wait.
type countedLock struct {
	*sync.Mutex
	waits int
}

func (l *countedLock) Lock() {
	l.Mutex.Lock()
	l.waits++
}

// One value that is closed, or kept, is for one worker, however many wait.
func TestAValueThatIsLostWakesOneWorker(t *testing.T) {
	for name, lose := range map[string]func(v *Set[int], own *Value[int]){
		"lost": func(v *Set[int], _ *Value[int]) {
			v.Release()
			v.Lose()
		},
		"kept": func(v *Set[int], own *Value[int]) { v.Keep(own) },
	} {
		check.Bubble(t, name, func(t *testing.T) {
			const waiting = 100
			v, got := new(Set[int]), make(chan *Value[int])
			v.Init(1, func() (int, error) { return 0, nil }, func(int) {}, nil)
			v.KeepFor(time.Hour, nil)
			lock := &countedLock{Mutex: &v.mu}
			v.fewer.L = lock
			tag := race.Here()
			for range waiting + 1 {
				go func() {
					own, err := v.Get(tag)
					check.OK(t, err)
					got <- own
				}()
			}
			own := <-got
			for range waiting {
				synctest.Wait()
				lose(v, own)
				own = <-got
			}
			check.Equal(t, "waits that have ended", lock.waits, waiting)
		})
	}
}

// To close one of those that are kept costs the same however many those are.
func TestAKeptValueIsClosedAtTheSameCost(t *testing.T) {
	check.Flat(t, 1000, func(n int) (f, end func()) {
		v, closed := new(Set[int]), make(chan struct{})
		v.Init(2*n, func() (int, error) { return 0, nil }, func(int) {}, nil)
		v.KeepFor(time.Hour, func(*Value[int]) {
			v.Lose()
			closed <- struct{}{}
		})
		add := func() {
			v.mu.Lock()
			v.count++
			v.open++
			v.mu.Unlock()
			if !v.Keep(new(Value[int])) {
				t.Error("a value is not kept")
			}
		}
		drop := func(n int) {
			v.mu.Lock()
			v.closeKept(n)
			v.mu.Unlock()
			for range n {
				<-closed
			}
		}
		for range n {
			add()
		}
		return func() {
			for range 50 {
				drop(1)
				add()
			}
		}, func() { drop(n) }
	})
}
