package values

import "time"

// kept are the values of a lane that no worker has. The workers of a lane end whenever others have a better claim to their places, or nothing is left to do;
// their values stay for those that come next. One that has stayed for the idle timeout is closed, by a goroutine of its own, as there is
// no worker for that.
type kept[S any] struct {
	list    []idleValue[S] // the newest last
	timeout time.Duration  // 0 keeps none
	timer   *time.Timer    // nil while the list is empty
	ended   bool           // the lane is closed, and keeps none any more
	close   func(*Value[S])
}

// KeepFor has values kept for the time, after which end is called for each, on a goroutine of its own.
func (v *Set[S]) KeepFor(timeout time.Duration, end func(*Value[S])) {
	v.kept.timeout, v.kept.close = timeout, end
}

type idleValue[S any] struct {
	own   *Value[S]
	since time.Time
}

// Keep takes a value from its worker, which ends, and reports whether it is kept. If not, it is to be closed.
func (v *Set[S]) Keep(own *Value[S]) bool {
	k := &v.kept
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open--
	if k.timeout == 0 || k.ended || v.open+v.opening+len(k.list) >= v.allowed {
		return false
	}
	k.list = append(k.list, idleValue[S]{own, time.Now()})
	if k.timer == nil { // made anew: it may belong to another test bubble than the last one
		k.timer = time.AfterFunc(k.timeout, v.expireKept)
	}
	v.fewer.Signal() // a worker may wait that could have it
	return true
}

// takeKept returns the newest value, nil if there is none. The caller holds the lock.
func (v *Set[S]) takeKept() *Value[S] {
	k := &v.kept
	last := len(k.list) - 1
	if last < 0 {
		return nil
	}
	own := k.list[last].own
	k.list[last].own = nil
	k.list = k.list[:last]
	k.rearm()
	v.open++
	return own
}

// rearm stops the timer if nothing is kept.
func (k *kept[S]) rearm() {
	if len(k.list) == 0 && k.timer != nil {
		k.timer.Stop()
		k.list, k.timer = nil, nil
	}
}

// closeKept closes the n oldest values. The caller holds the lock.
func (v *Set[S]) closeKept(n int) {
	k := &v.kept
	if n = min(n, len(k.list)); n <= 0 {
		return
	}
	for _, value := range k.list[:n] {
		go k.close(value.own)
	}
	clear(k.list[:n])
	k.list = k.list[n:] // what append copies is what is left
	k.rearm()
}

// expireKept closes what has been kept for too long.
func (v *Set[S]) expireKept() {
	k := &v.kept
	v.mu.Lock()
	defer v.mu.Unlock()
	if k.timer == nil { // stopped too late
		return
	}
	now := time.Now()
	n := 0
	for n < len(k.list) && now.Sub(k.list[n].since) >= k.timeout {
		n++
	}
	if v.closeKept(n); len(k.list) > 0 {
		k.timer.Reset(k.timeout - now.Sub(k.list[0].since))
	}
}

// End closes all kept values, also those that are kept later, and waits for that, until done is closed.
// It reports whether all values are closed.
func (v *Set[S]) End(done <-chan struct{}) (closed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept.ended = true
	v.closeKept(len(v.kept.list))
	if v.count == 0 {
		return true
	}
	select {
	case <-done:
		return false
	default:
	}
	left := false
	if done != nil {
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-done:
				v.mu.Lock()
				left = true
				v.mu.Unlock()
				v.none.Broadcast()
			case <-over:
			}
		}()
	}
	for v.count > 0 && !left {
		v.none.Wait()
	}
	return v.count == 0
}
