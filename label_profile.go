package weir

import (
	"context"
	"runtime/pprof"
	"strconv"
	"sync/atomic"

	"github.com/64ed045f/weir/internal/engine"
)

// profileLabels are the labels of package runtime/pprof that workers of a pool have themselves; nil for none.
type profileLabels struct {
	pool string // the Name
	set  pprof.LabelSet
	ctx  context.Context // with those labels alone
}

func newProfileLabels(pool string, more ...string) *profileLabels {
	var list []string
	if pool != "" {
		list = append(list, "weir", pool)
	}
	l := &profileLabels{pool: pool, set: pprof.Labels(append(list, more...)...)}
	l.ctx = pprof.WithLabels(context.Background(), l.set)
	return l
}

// give sets the labels of the calling goroutine. A new goroutine has those of the goroutine that started it:
// of a submitter that needed a worker.
func (l *profileLabels) give() {
	if l == nil {
		pprof.SetGoroutineLabels(context.Background())
	} else {
		pprof.SetGoroutineLabels(l.ctx)
	}
}

// ownLabels are those of w, whose pool gives its workers those of the pool, or more: see numberedWorkers.
func ownLabels(w *engine.Worker, pool *profileLabels) *profileLabels {
	if n, ok := w.Watch().(*numberedWorkers); ok {
		return n.labels(w.Number())
	}
	return pool
}

// numberedWorkers gives each worker of a pool a label of its own, by which [Running.Stack] finds its stack.
// As this makes profiles larger, it begins with the first call of Running or [Watch], and beyond 256 workers
// they share labels.
type numberedWorkers struct {
	*workerLabels
	first int // the number of the label of worker 0
}

// workerLabels are labels that differ by a number.
type workerLabels struct {
	pool   *profileLabels
	prefix string // of their values
	made   [differentWorkers / someWorkers]atomic.Pointer[[someWorkers]atomic.Pointer[profileLabels]]
}

const (
	differentWorkers = 256
	someWorkers      = 16
)

// numberedPools is how many pools have numbered workers, for their labels to differ.
var numberedPools atomic.Uint64

// groupLabels are shared by all groups with workers of their own: to make labels takes longer than a small group.
var (
	groupLabels = workerLabels{prefix: "0."} // others begin with 1
	lastLabel   atomic.Uint64
)

func newNumberedWorkers(pool *profileLabels) *numberedWorkers {
	return &numberedWorkers{&workerLabels{pool: pool, prefix: strconv.FormatUint(numberedPools.Add(1), 10) + "."}, 0}
}

// groupWorkers numbers the n workers, or goroutines, of a group without a name.
func groupWorkers(n uint64) *numberedWorkers {
	return &numberedWorkers{&groupLabels, int((lastLabel.Add(n) - n) % differentWorkers)}
}

// name is the value of the label of a worker.
func (n *numberedWorkers) name(worker int) string {
	return n.prefix + strconv.Itoa((n.first+worker)%differentWorkers)
}

func (n *numberedWorkers) labels(worker int) *profileLabels {
	i := (n.first + worker) % differentWorkers
	part := &n.made[i/someWorkers]
	some := part.Load()
	if some == nil {
		some = new([someWorkers]atomic.Pointer[profileLabels])
		part.Store(some) // another goroutine may do the same: labels are equal if their values are
	}
	l := some[i%someWorkers].Load()
	if l == nil {
		l = newProfileLabels(n.pool.name(), workerLabel, n.name(worker))
		some[i%someWorkers].Store(l)
	}
	return l
}

// workerLabel is the key of that label.
const workerLabel = "weir.worker"

func (l *profileLabels) name() string {
	if l == nil {
		return ""
	}
	return l.pool
}
