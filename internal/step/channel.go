package step

// Channels are Go's own. The functions here stand for the operations on them. No operation ever blocks: the
// goroutine waits under control until the operation can go through.
//
// A send that finds room for the value is no step, nor is a receive that finds a value. Only the one goroutine
// that waits at the channel sees it, and that goroutine goes on at some later step in any case. A channel with
// several receivers would need more.

type receiving[T any] <-chan T

// canGoOn relies on this: no goroutine sends on a channel without a buffer. So a goroutine that receives
// anything there has found the channel closed.
func (ch receiving[T]) canGoOn() bool {
	switch {
	case ch == nil:
		return false
	case len(ch) > 0:
		return true
	}
	select {
	case _, open := <-ch:
		if open {
			panic("step: a value from a channel without a buffer")
		}
		return true
	default:
		return false
	}
}

type sending[T any] chan<- T

func (ch sending[T]) canGoOn() bool { return ch != nil && len(ch) < cap(ch) }

func await(doing string, until condition) {
	e := current
	if e == nil {
		panic("step: " + doing + " outside of an execution")
	}
	e.tells()
	e.block(doing, until)
}

// Receive stands for <-ch.
func Receive[T any](ch <-chan T) T {
	await("receive", receiving[T](ch))
	return <-ch
}

// ReceiveOK stands for v, ok := <-ch, where ok is false if ch is closed.
func ReceiveOK[T any](ch <-chan T) (T, bool) {
	await("receive", receiving[T](ch))
	v, ok := <-ch
	return v, ok
}

// Send stands for ch <- v.
func Send[T any](ch chan<- T, v T) {
	if ch != nil && cap(ch) == 0 {
		panic("step: a send on a channel without a buffer")
	}
	await("send", sending[T](ch))
	ch <- v
}

// Close stands for close(ch).
func Close[T any](ch chan<- T) {
	point("close")
	if e := current; e != nil {
		e.tells()
	}
	close(ch)
}

// Case is one case of a select statement.
type Case struct{ c condition }

// From is the case of a receive.
func From[T any](ch <-chan T) Case { return Case{receiving[T](ch)} }

// To is the case of a send.
func To[T any](ch chan<- T) Case { return Case{sending[T](ch)} }

// Select stands for a select statement without a default. It waits until a case can go on, and returns the
// number of a case that can.
func Select(cases ...Case) int {
	point("select")
	await("select", selecting(cases))
	return selecting(cases).one()
}

// SelectDefault stands for a select statement with a default. It returns -1 for the default.
func SelectDefault(cases ...Case) int {
	point("select")
	if e := current; e != nil {
		e.tells()
	}
	if !selecting(cases).canGoOn() {
		return -1
	}
	return selecting(cases).one()
}

type selecting []Case

func (s selecting) canGoOn() bool {
	for _, c := range s {
		if c.c.canGoOn() {
			return true
		}
	}
	return false
}

// one chooses among the cases that can go on.
func (s selecting) one() int {
	var able []int
	for i, c := range s {
		if c.c.canGoOn() {
			able = append(able, i)
		}
	}
	if e := current; len(able) > 1 && e != nil && !e.silent {
		return able[e.choose(len(able))]
	}
	return able[0]
}
