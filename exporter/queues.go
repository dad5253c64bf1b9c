package exporter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// answerTime is how long [Queues] waits for a queue.
const answerTime = 2 * time.Second

// errNoAnswer is the cause of a context that has lasted so long.
var errNoAnswer = errors.New("no answer within " + answerTime.String())

// errRemoved is the cause of the context of a call for a queue that was removed.
var errRemoved = errors.New("queue was removed")

// errExited is the error of a call for counts that has ended its goroutine.
var errExited = errors.New("function for counts called runtime.Goexit")

// Queue is a queue of messages that outlives the program, such as one of package weirnats, as [Queues] finds it.
type Queue struct {
	Name   string // of the queue
	Server string // where its messages are: URLs of servers, or a folder

	Counts QueueCounts // the latest that are known
	At     time.Time   // when those were asked for; zero if none are known
	Err    error       // why Counts are not of this call; else nil
}

// QueueCounts are the counts of a queue, over all programs that use it.
type QueueCounts struct {
	Waiting     int           // messages that wait for their first delivery
	Leased      int           // messages that were delivered and are not done
	Redelivered int           // messages that were delivered more than once, and are not done
	Dead        int           // dead letters
	Later       int           // messages that were put for a later time, and are not in the queue yet
	Accepted    uint64        // messages that the queue has accepted since it was made; it never falls
	Oldest      time.Duration // how long the oldest message has been there; 0 if there is none
}

// queues are those of AddQueue that are not removed.
var queues struct {
	mu   sync.Mutex
	list []*queue
}

// queue is one of them.
type queue struct {
	name, server string
	counts       func(context.Context) (QueueCounts, error)
	open         context.Context // until it is removed

	mu     sync.Mutex
	asked  *asked // the call of counts that is under way; nil if there is none
	latest QueueCounts
	at     time.Time // of latest
}

// asked is a call of counts.
type asked struct {
	done chan struct{} // closed when there is an answer
	err  error         // of the answer
}

// AddQueue adds a queue to those that [Queues] returns, and that package weirdebug shows and weirprom and weirotel export, until remove is called. Package
// weirnats does that for each queue that is open. server tells queues of the same name apart: it says where the messages are, without passwords. A second
// queue with the same name and server takes the place of the first when that is removed. In both texts _ replaces what is not UTF-8, and U+FFFD.
//
// counts returns the present counts. It is called for each call of Queues, on a goroutine of its own, and not while it runs: calls of Queues that come
// meanwhile share the answer. It should return when its context is done. Remove ends that context, does not wait, and may be called more than once.
func AddQueue(name, server string, counts func(ctx context.Context) (QueueCounts, error)) (remove func()) {
	must(name != "", "name of a queue must not be empty", `""`)
	must(counts != nil, "function for counts must not be nil", "nil")
	open, end := context.WithCancelCause(context.Background())
	q := &queue{name: plain(name), server: plain(server), counts: counts, open: open}
	queues.mu.Lock()
	queues.list = append(queues.list, q)
	queues.mu.Unlock()
	return func() {
		end(errRemoved)
		queues.mu.Lock()
		defer queues.mu.Unlock()
		queues.list = slices.DeleteFunc(queues.list, func(other *queue) bool { return other == q })
	}
}

// plain replaces what systems for metrics refuse.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return '_'
		}
		return r
	}, text)
}

// Queues asks all queues of [AddQueue] for their counts at once, and returns them in the order in which they were added. It waits until each has answered, for two
// seconds at most, or until ctx is done. A queue that has not answered, or whose answer is an error, has Err, and the counts that it had before.
// Without queues it costs a lock.
func Queues(ctx context.Context) []Queue {
	must(ctx != nil, "context must not be nil", "nil")
	list := listed()
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errNoAnswer)
	defer cancel()
	answers := make([]*asked, len(list))
	for i, q := range list {
		answers[i] = q.ask()
	}
	found := make([]Queue, len(list))
	for i, q := range list {
		found[i] = q.find(ctx, answers[i])
	}
	return found
}

// listed returns the queues, of those with the same name and server the first.
func listed() (list []*queue) {
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if len(queues.list) == 0 {
		return nil
	}
	taken := make(map[[2]string]bool, len(queues.list))
	for _, q := range queues.list {
		if key := [2]string{q.name, q.server}; !taken[key] {
			taken[key] = true
			list = append(list, q)
		}
	}
	return list
}

// ask calls counts, unless a call is under way.
func (q *queue) ask() *asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked == nil {
		q.asked = &asked{done: make(chan struct{})}
		go q.answer(q.asked)
	}
	return q.asked
}

func (q *queue) answer(a *asked) {
	at := time.Now()
	ctx, cancel := context.WithTimeoutCause(q.open, answerTime, errNoAnswer)
	defer cancel()
	counts, err := QueueCounts{}, errExited
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if err == nil {
			q.latest, q.at = counts, at
		}
		a.err, q.asked = err, nil
		close(a.done)
	}()
	counts, err = q.counts(ctx)
}

// find returns the queue when there is an answer, or ctx is done.
func (q *queue) find(ctx context.Context, a *asked) Queue {
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	select { // an answer counts also if both are there, as others may have taken all the time
	case <-a.done:
		err = a.err
	default:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return Queue{Name: q.name, Server: q.server, Counts: q.latest, At: q.at, Err: err}
}
