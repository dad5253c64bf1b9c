package weirotel

import (
	"time"

	"github.com/64ed045f/weir/exporter"
)

// lookAt returns the sources of all queues, and of the queues whose counts are known.
func lookAt(queues []exporter.Queue, start time.Time) (all, known []source[exporter.Queue]) {
	for i := range queues {
		q := &queues[i]
		s := newSource(ofQueues, start, q, q.Name, q.Server)
		all = append(all, s)
		if q.Err == nil {
			known = append(known, s)
		}
	}
	return all, known
}
