package model_test

import (
	"math/bits"
	"slices"

	"pgregory.net/rapid"
)

// between draws a number from low to high, each as often as the others: rapid itself prefers small numbers. It is made of bits, of which four more
// than needed make all even enough.
func between(t *rapid.T, low, high int, what string) int {
	n, number := high-low+1, 0
	for range bits.Len(uint(n-1)) + 4 {
		number *= 2
		if rapid.Bool().Draw(t, what) {
			number++
		}
	}
	return low + number%n
}

// oneOf draws one of several.
func oneOf[E any](t *rapid.T, from []E, what string) E { return from[between(t, 0, len(from)-1, what)] }

// pick draws one of those that there are now. If there is none, the step is not possible.
func pick[E any](t *rapid.T, from []E, what string) E {
	if len(from) == 0 {
		notNow()
	}
	return oneOf(t, from, what)
}

// pickIf draws one of those for which fits is true.
func pickIf[E any](t *rapid.T, from []E, what string, fits func(e E) bool) E {
	return pick(t, slices.DeleteFunc(slices.Clone(from), func(e E) bool { return !fits(e) }), what)
}

// action is a kind of step, which comes as often as its weight says.
type action struct {
	name   string
	weight int
	do     func(t *rapid.T) // calls notNow, before it draws or changes anything, if it is not possible
}

// impossible is what notNow panics with.
type impossible struct{}

func notNow() { panic(impossible{}) }

// take takes a step: the one drawn, or the next one that is possible.
func take(t *rapid.T, actions []action) {
	var table []int
	for i, a := range actions {
		for range a.weight {
			table = append(table, i)
		}
	}
	first := oneOf(t, table, "action")
	for n := range actions {
		a := actions[(first+n)%len(actions)]
		if possible(t, a) {
			return
		}
	}
}

func possible(t *rapid.T, a action) (done bool) {
	defer func() {
		if done {
			return
		}
		if value := recover(); value != (impossible{}) {
			panic(value)
		}
	}()
	a.do(t)
	return true
}

// steps takes random steps, and calls look after each.
func steps(t *rapid.T, actions []action, look func()) {
	look()
	t.Repeat(map[string]func(*rapid.T){
		"step": func(t *rapid.T) { take(t, actions) },
		"":     func(*rapid.T) { look() },
	})
}
