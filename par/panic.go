package par

import (
	"log/slog"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// caught returns the Panic for a recovered value, as a group does for its tasks. Only a deferred function may
// call it.
func caught(value any) *weir.Panic { return inside.Caught(value).(*weir.Panic) }

// report deals with a panic that no caller gets: on a pool as with those of its tasks.
func (o *options) report(p *weir.Panic) {
	if o.pool != nil {
		inside.Report(o.pool, p)
	} else {
		logPanic(p)
	}
}

func logPanic(p *weir.Panic) {
	slog.Error("par: function panicked", "panic", p.Value, "stack", string(p.Stack))
}

// waitAfterPanic waits for the helpers after a panic that the caller will raise. It reports theirs.
func (o *options) waitAfterPanic(helpers interface{ Wait() error }) {
	defer func() {
		if value := recover(); value != nil {
			o.report(value.(*weir.Panic))
		}
	}()
	_ = helpers.Wait()
}

// waitForSource waits for the goroutine that reads a source. If the source was a stage of a pipeline which has
// panicked, or passed another Panic on, it panics as that did: with the stack of the call, not of the goroutine that
// passed it on.
func waitForSource(feeder taskGroup) {
	defer func() {
		if value := recover(); value != nil {
			p := value.(*weir.Panic)
			if stage, ok := p.Value.(*weir.Panic); ok && stage != nil {
				p = stage
			}
			panic(p)
		}
	}()
	_ = feeder.Wait()
}
