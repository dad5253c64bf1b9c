package sum

import (
	"context"
	"errors"
)

// Digest prints the digests of all regular files at or below the paths, in the bytewise order of their full
// paths. For each file or directory that can't be read, it prints a line on the standard error, and in the
// end returns ErrFailed. When ctx is cancelled, Digest returns the cause; what it has printed by then is the
// beginning of the complete output. If the output has no reader any more, Digest stops, and returns the same
// as if there had been no more files.
func Digest(ctx context.Context, opts Options, streams Streams, paths []string) error {
	show := startProgress(streams, walk(paths))
	defer show.stop()

	if opts.open == nil {
		opts.open = openFound
	}
	out := newOutput(show.out, show.err, opts)
	out.watched = streams.Out
	var failed error
	p := pipeline{
		items:   walk(paths),
		workers: opts.Workers,
		stdin:   streams.In,
		digest:  newDigester(opts, show.meter).digest,
		flush:   out.flush,
		emit: func(j *job) error {
			if j.err != nil {
				if err := out.report(j); err != nil {
					return err
				}
				failed = ErrFailed
				return nil
			}
			return out.print(j)
		},
	}
	if opts.FailFast {
		p.fatal = func(error) bool { return true }
	}
	if err := out.settle(p.run(ctx)); err != nil && !errors.Is(err, errClosedPipe) {
		return err
	}
	return failed
}
