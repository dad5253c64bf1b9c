package reuse

import "reflect"

// getChecked is Get while checks are on. It takes nothing out of the pool: earlier users may
// still hold what is in there, unknown to the checks.
func (p *Pool[T]) getChecked() T {
	x := p.create()
	object, call := reflect.ValueOf(any(x)), here()
	if !checks.do(func(l *ledger) { l.got(p.account(l), object, call) }) {
		p.learn()
	}
	return x
}

// putChecked is Put while checks are on. It returns false if the checks are off by then. It
// calls the functions of the pool without the lock: they may use pools.
func (p *Pool[T]) putChecked(x T) bool {
	object, call := reflect.ValueOf(any(x)), here()
	var r *record
	if !checks.do(func(l *ledger) {
		r = l.put(p.account(l), object, isNil(shapeOf(reflect.TypeFor[T]().Kind()), &x), call)
	}) {
		return false
	}
	if r == nil {
		return true
	}
	kept := false
	defer func() {
		if !kept {
			checks.do(func(l *ledger) { l.forget(r) })
		}
	}()
	if p.Keep != nil && !p.Keep(x) {
		return true
	}
	if p.Reset != nil {
		p.Reset(x)
	}
	if p.Poison != nil {
		p.Poison(x)
	}
	kept = checks.do(func(l *ledger) { l.hold(r, object, p.Poison == nil) })
	return true
}

func (p *Pool[T]) account(l *ledger) *account {
	a := l.accounts[p]
	if a == nil {
		a = &account{pool: p, object: reflect.TypeFor[T]().String(), out: map[identity]*record{}, unnamed: map[*stack]int{}}
		l.accounts[p] = a
		l.order = append(l.order, a)
	}
	return a
}

// onlyChecked reports whether nothing was got from the pool without checks.
func (p *Pool[T]) onlyChecked() bool { return p.shape.Load() == unknown }

// leftOut notes that an object got under checks may be put after them, or under later checks.
func (p *Pool[T]) leftOut() { p.learn() }
