// Package peer puts every way of running tasks that the lab compares behind one
// small interface, each as its own documentation says to use it.
//
// One file holds one library. What stands there is what a user would write: a
// library that can wait by itself does, one that cannot gets a [sync.WaitGroup].
package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/panjf2000/ants/v2"

	"github.com/64ed045f/weir/lab/internal/machine"
)

// A Runner runs the tasks that it was opened for on one pool, group or the like.
type Runner interface {
	// Submit hands over the tasks from lo up to hi, hi not included, from the
	// calling goroutine. It blocks for room where the library does. Several
	// goroutines may call it at once.
	Submit(lo, hi int)

	// Wait returns when all tasks handed over before have finished. It is called
	// when no Submit runs. The runner can be used again afterwards; where the
	// library cannot, Wait makes anew what it must, at the cost its users have.
	Wait()

	// Close ends the goroutines of the runner. It is called once, after Wait.
	Close()
}

// Work is what the tasks of a [Runner] do. Exactly one field is set.
type Work struct {
	// Same makes all tasks this one function, which needs no closure for any.
	Same func()

	// Each gets the index of its task. A library whose tasks take no argument needs
	// a closure for each.
	Each func(i int)
}

// A Group runs tasks that get a context and return an error.
type Group interface {
	// Submit hands over the tasks from lo up to hi, as in [Runner].
	Submit(lo, hi int)

	// Wait returns when all tasks have finished, with an error if any failed. The
	// group can be used again unless it has returned an error.
	Wait() error

	// Close ends the goroutines of the group. It is called once, after Wait.
	Close()
}

// GroupWork is what the tasks of a [Group] do. Exactly one field is set, as in
// [Work].
type GroupWork struct {
	Same func(ctx context.Context) error
	Each func(ctx context.Context, i int) error
}

// Body is what a loop does with each item, in two forms that do the same: a peer uses
// the one that its library takes, or a user would write there.
type Body struct {
	Item func(item *float64)
	Try  func(ctx context.Context, item *float64) error
}

// A Peer is one way of running tasks.
type Peer struct {
	// Name is how -peer and the tables call it: the library, then a dot and the
	// form where the library has several, as in "ants.func".
	Name string

	// Module is the path of the library's module, empty for the standard library.
	Module string

	// About says in a few words how the library is used.
	About string

	// Open makes a runner of at most limit tasks at once. Nil where the form has
	// only a loop or a group.
	Open func(limit int, work Work) Runner

	// Unlimited says that Open ignores the limit: all tasks run at once.
	Unlimited bool

	// Set is Open for one small set of tasks after another: what a user makes for each set is made anew after each Wait.
	// Nil where Open does that, or where nothing is made for a set.
	Set func(limit int, work Work) Runner

	// Queued is Open with a queue that never makes Submit wait, for at least n
	// tasks. Nil where the library has none.
	Queued func(limit, n int, work Work) Runner

	// Group makes a group whose tasks get a context made from ctx, which the first
	// error cancels. Nil where the form has none.
	Group func(ctx context.Context, limit int, work GroupWork) Group

	// Loop makes a loop over the items. To run it calls the body for every item, on at most
	// limit goroutines, and returns when all calls have. What is made beforehand is
	// only what the loop runs over. Nil where the library has no loop.
	Loop func(limit int, items []float64, body Body) (run func())

	// Collect runs fn for the numbers from 0 up to n, each as a task handed over by
	// itself, at most limit at once. It returns the values in the order of the
	// numbers, or an error if a task failed. Nil where the form collects nothing.
	Collect func(limit, n int, fn func(i int) (int, error)) ([]int, error)

	// Stream runs fn for the numbers from 0 up to n, which come one after the other, at
	// most limit at once. It passes what fn returns to consume, in the order of the
	// numbers and while others run, and returns when all has been consumed. Nil
	// where the form has no ordered stream.
	Stream func(limit, n int, fn func(i int) int, consume func(value int))

	// Sort sorts the items, on at most limit goroutines that do not wait for others;
	// libraries that would come to a standstill then have no limit here. Nil where
	// that is no use of the form.
	Sort func(limit int, items []int)

	// Fibonacci returns the n-th Fibonacci number. For n above 1 two tasks find the two
	// numbers before it, each in the same way, and are waited for. At most limit of the
	// tasks run at once, those that wait left aside; libraries that would come to
	// a standstill then have no limit here.
	Fibonacci func(limit, n int) int

	// New makes a pool that nothing uses, and returns what ends it. Nil where there
	// is nothing to make, or where another form of the library makes the same.
	New func(limit int) (end func())
}

// Library is the first part of the peer's name: "ants" for "ants.func".
func (p Peer) Library() string { return LibraryOf(p.Name) }

// LibraryOf returns the library's part of a peer's name.
func LibraryOf(name string) string {
	library, _, _ := strings.Cut(name, ".")
	return library
}

// Names of the peers that tables treat apart.
const (
	Weir    = "weir"    // the library that all others are compared with
	Go      = "go"      // a plain goroutine for each task
	InPlace = "inplace" // no concurrency at all: the upper bound
	Made    = "new"     // no reuse at all: an object is made for each request
)

// All returns every peer, in the order of the tables.
func All() []Peer {
	return slices.Concat(weirPeers(), plainPeers(), errgroupPeers(), concPeers(), antsPeers(), pondPeers(),
		workerpoolPeers(), gopoolPeers())
}

// Modules returns the module of each library that is measured, by the library's name, in the
// order of the tables. Weir's own is not among them.
func Modules() []machine.Module {
	var list []machine.Module
	for _, p := range All() {
		m := machine.Module{Library: p.Library(), Path: p.Module}
		if m.Path != "" && m.Library != Weir && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	// These run no tasks of their own: suites reuse, sharing, later and http use them as they are.
	return append(list, []machine.Module{
		{Library: "bytebufferpool", Path: "github.com/valyala/bytebufferpool"}, {Library: "puddle", Path: "github.com/jackc/puddle/v2"},
		{Library: "singleflight", Path: "golang.org/x/sync"}, {Library: "x-time", Path: "golang.org/x/time"},
		{Library: "failsafe-go", Path: "github.com/failsafe-go/failsafe-go"},
		{Library: "chi", Path: "github.com/go-chi/chi/v5"},
	}...)
}

// Find returns the peer of that name.
func Find(name string) (Peer, error) {
	for _, p := range All() {
		if p.Name == name {
			return p, nil
		}
	}
	return Peer{}, fmt.Errorf("no peer is called %q", name)
}

// Alone ends the goroutines that other libraries start when they are
// imported: only ants does. Call it before anything else.
func Alone(name string) {
	if LibraryOf(name) != "ants" {
		ants.Release()
	}
}

// must is for errors that the setting makes impossible: with such an error the
// lab would measure something else.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// unbounded is Open as Queued, for a library whose queue has no bound.
func unbounded(open func(limit int, work Work) Runner) func(limit, n int, work Work) Runner {
	return func(limit, _ int, work Work) Runner { return open(limit, work) }
}
