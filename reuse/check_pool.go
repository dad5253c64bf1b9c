package reuse

import "reflect"

// getChecked is Get while checks are on. It takes no object out of the pool: earlier users, unknown to the
// checks, may still hold the objects there.
func (p *Pool[T]) getChecked() T {
	x := p.create()
	object, call := reflect.ValueOf(any(x)), here()
	if !checks.do(func(l *ledger) { l.got(p.account(l), object, call) }) {
		p.learn()
	}
	return x
}

// putChecked is Put while checks are on. It returns false if the checks are off by then. It calls the
// functions of the pool without holding the lock, since they may use pools.
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

// onlyChecked reports whether every Get from the pool was checked.
func (p *Pool[T]) onlyChecked() bool { return p.shape.Load() == unknown }

// leftOut records that an object got under checks may be put after they end, or under later checks.
func (p *Pool[T]) leftOut() { p.learn() }
