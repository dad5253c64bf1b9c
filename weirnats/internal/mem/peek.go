package mem

import (
	"context"
	"slices"

	"github.com/64ed045f/weir/weirnats/internal/backend"
)

// Peek implements [backend.Queue].
func (q *Queue) Peek(_ context.Context, after uint64) (*backend.Kept, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first *item
	for _, i := range q.messages {
		if i.number > after && (first == nil || i.number < first.number) {
			first = i
		}
	}
	if first == nil {
		return nil, backend.ErrNotFound
	}
	k := &backend.Kept{Number: first.number, Message: first.Message}
	if first.record != nil {
		k.Record = *first.record
		k.Errors = slices.Clone(k.Errors)
	}
	return k, nil
}
