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

// give gives the labels to the calling goroutine, in place of those that it has: as a new one has those of the goroutine that has
// started it, of a submitter that needed a worker.
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

// numberedWorkers gives each worker of a pool a label of its own, by which [Running.Stack] finds its stack. Profiles would otherwise be much
// larger: so that begins with the first call of Running, and many workers share labels if there are more.
type numberedWorkers struct {
	pool   *profileLabels
	number string // of the pool
	made   [differentWorkers]atomic.Pointer[profileLabels]
}

const differentWorkers = 256

// numberedPools is how many pools have numbered workers, for their labels to differ.
var numberedPools atomic.Uint64

func newNumberedWorkers(pool *profileLabels) *numberedWorkers {
	return &numberedWorkers{pool: pool, number: strconv.FormatUint(numberedPools.Add(1), 10)}
}

// name is the value of the label of a worker.
func (n *numberedWorkers) name(worker int) string {
	return n.number + "." + strconv.Itoa(worker%differentWorkers)
}

func (n *numberedWorkers) labels(worker int) *profileLabels {
	made := &n.made[worker%differentWorkers]
	l := made.Load()
	if l == nil {
		l = newProfileLabels(n.pool.name(), workerLabel, n.name(worker))
		made.Store(l)
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
