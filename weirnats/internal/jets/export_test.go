package jets

import (
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// RecordSubject is where q, which Open has returned, keeps the record of a message that was put then.
func RecordSubject(q backend.Queue, number uint64, put time.Time) string {
	return q.(*queue).recordSubject(nameOf(number, put))
}
