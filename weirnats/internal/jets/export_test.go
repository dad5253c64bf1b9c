package jets

import "github.com/64ed045f/weir/weirnats/internal/backend"

// RecordSubject is where q, which Open has returned, keeps the record of a message.
func RecordSubject(q backend.Queue, number uint64) string { return q.(*queue).recordSubject(number) }
