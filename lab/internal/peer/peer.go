// Package peer puts every way of running tasks that the lab compares behind one small interface. Each is used
// as its own documentation says.
//
// Each file holds one library, and has the code that a user would write. If the library can wait by itself,
// the code uses that; otherwise it uses a [sync.WaitGroup].
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
	// Submit submits the tasks from lo up to hi, hi not included, from the calling goroutine. It blocks for
	// room where the library does. Several goroutines may call it at once.
	Submit(lo, hi int)

	// Wait returns when all tasks submitted before have finished, with an error if one of them returned an error. It is
	// called when no Submit runs. Without an error the runner can be used again afterwards. If the library's object
	// cannot, Wait makes a new one, at the cost that users of the library have.
	Wait() error

	// Close ends the goroutines of the runner. It is called once, after Wait.
	Close()
}

// GroupWork is what the tasks of a group do. Exactly one field is set.
type GroupWork struct {
	// Same makes all tasks this one function, which needs no closure for any.
	Same func(ctx context.Context) error

	// Each gets the index of its task. A library whose tasks take no argument needs
	// a closure for each.
	Each func(ctx context.Context, i int) error
}

// Body is what a loop does with each item, in two forms that do the same. A peer uses the form that its
// library takes, or that a user would write there.
type Body struct {
	Item func(item *float64)
	Try  func(ctx context.Context, item *float64) error
}

// A Peer is one way of running tasks.
type Peer struct {
	// Name is the name in tables and for -peer. It is the library, and if the library has several forms, a
	// dot and the form: "ants.func".
	Name string

	// About says in a few words how the library is used.
	About string

	// Open makes a runner of at most limit tasks at once, which are all this one function: no library needs a closure
	// for any. Nil if the form has only a loop or a group.
	Open func(limit int, task func()) Runner

	// Unlimited says that Open ignores the limit: all tasks run at once.
	Unlimited bool

	// Set is like Open, for one small set of tasks after another: what a user makes for each set is made
	// again after each Wait. Nil if Open does that already, or if nothing is made for a set.
	Set func(limit int, task func()) Runner

	// Queued is like Open, with a queue for at least n tasks, so that Submit never waits. Nil if the library
	// has no such queue.
	Queued func(limit, n int, task func()) Runner

	// Group makes a group whose tasks get a context made from ctx, which the first error cancels. Nil if the
	// form has no groups.
	Group func(ctx context.Context, limit int, work GroupWork) Runner

	// Loop prepares a loop over the items. run calls the body for every item, on at most limit goroutines,
	// and returns when all calls have. Only the data that the loop runs over is made beforehand. Nil if the
	// library has no loop.
	Loop func(limit int, items []float64, body Body) (run func())

	// Collect runs fn for the numbers from 0 up to n, each as a task of its own, at most limit at once. It returns
	// the values in the order of the numbers, or an error if a task failed. Nil if the form collects nothing.
	Collect func(limit, n int, fn func(i int) (int, error)) ([]int, error)

	// Stream runs fn for the numbers from 0 up to n, which come one after the other, at most limit at once.
	// It passes the results of fn to consume in the order of the numbers, while other calls run, and returns
	// when all are consumed. Nil if the form has no ordered stream.
	Stream func(limit, n int, fn func(i int) int, consume func(value int))

	// Sort sorts the items, on at most limit goroutines that do not wait for others. A library that would
	// deadlock has no limit here. Nil if the form is not made for that.
	Sort func(limit int, items []int)

	// Fibonacci returns the n-th Fibonacci number. If n is above 1, two tasks compute the two numbers before
	// it in the same way, and Fibonacci waits for them. At most limit tasks run at once, not counting tasks
	// that wait. A library that would deadlock has no limit here.
	Fibonacci func(limit, n int) int

	// New makes a pool that nothing uses, and returns a function that ends it. Nil if there is nothing to
	// make, or if another form of the library makes the same.
	New func(limit int) (end func())
}

// LibraryOf returns the library's part of a peer's name: "ants" for "ants.func".
func LibraryOf(name string) string {
	library, _, _ := strings.Cut(name, ".")
	return library
}

// Names of the peers that tables treat specially.
const (
	Weir    = "weir"    // the library with which all others are compared
	Go      = "go"      // a plain goroutine for each task
	InPlace = "inplace" // no concurrency at all: the upper bound
	Made    = "new"     // no reuse at all: each request makes an object
)

// All returns every peer, in the order of the tables.
func All() []Peer {
	return slices.Concat(weirPeers(), plainPeers(), errgroupPeers(), concPeers(), antsPeers(), pondPeers(),
		workerpoolPeers(), gopoolPeers())
}

// Modules are the modules of the measured libraries, in the order of the tables. Weir's own is not among them. The last six run
// no tasks of their own: the suites reuse, sharing, later and http use them directly.
var Modules = []machine.Module{
	{Library: "errgroup", Path: "golang.org/x/sync"},
	{Library: "conc", Path: "github.com/sourcegraph/conc"},
	{Library: "ants", Path: "github.com/panjf2000/ants/v2"},
	{Library: "pond", Path: "github.com/alitto/pond/v2"},
	{Library: "workerpool", Path: "github.com/gammazero/workerpool"},
	{Library: "gopool", Path: "github.com/bytedance/gopkg"},
	{Library: "bytebufferpool", Path: "github.com/valyala/bytebufferpool"},
	{Library: "puddle", Path: "github.com/jackc/puddle/v2"},
	{Library: "singleflight", Path: "golang.org/x/sync"},
	{Library: "x-time", Path: "golang.org/x/time"},
	{Library: "failsafe-go", Path: "github.com/failsafe-go/failsafe-go"},
	{Library: "chi", Path: "github.com/go-chi/chi/v5"},
}

// Find returns the peer of that name. It panics if there is none.
func Find(name string) Peer {
	for _, p := range All() {
		if p.Name == name {
			return p
		}
	}
	panic(fmt.Sprintf("no peer is called %q", name))
}

// Alone ends the goroutines that other libraries start when they are imported: only ants starts any. Call
// Alone before anything else.
func Alone(name string) {
	if LibraryOf(name) != "ants" {
		ants.Release()
	}
}

// must panics at errors that the setup makes impossible: with such an error the lab would measure something else.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// unbounded returns Open as Queued, for a library whose queue has no bound.
func unbounded(open func(limit int, task func()) Runner) func(limit, n int, task func()) Runner {
	return func(limit, _ int, task func()) Runner { return open(limit, task) }
}
