package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/inside"
)

// answerTime is how long [Queues] waits for a queue to answer.
const answerTime = 2 * time.Second

// errNoAnswer is the cause of a context that ended after answerTime.
var errNoAnswer = errors.New("no answer within " + answerTime.String())

// errRemoved is the cause of the context of a counts call whose queue was removed.
var errRemoved = errors.New("queue was removed")

// errExited is the error of a counts call that called runtime.Goexit.
var errExited = errors.New("function for counts called runtime.Goexit")

// Queue is a message queue that outlives the program, such as one of package weirnats, as [Queues] found it.
type Queue struct {
	Name   string // name of the queue
	Server string // where its messages are: URLs of servers, or a folder

	Counts QueueCounts // the latest known counts
	At     time.Time   // when Counts were requested; zero if none are known
	Err    error       // why this call did not get new Counts; nil if it did
}

// QueueCounts are the counts of a queue, over all programs that use it.
type QueueCounts struct {
	Waiting     int           // messages waiting for their first delivery
	Leased      int           // messages that were delivered and are not done
	Redelivered int           // messages that were delivered more than once, and are not done
	Dead        int           // dead letters
	Later       int           // messages put for a later time that are not in the queue yet
	Accepted    uint64        // messages that the queue has accepted since it was made; never falls
	Oldest      time.Duration // how long the oldest message has been there; 0 if there is none
}

// queues holds the queues of AddQueue that have not been removed.
var queues struct {
	mu   sync.Mutex
	list []*queue
}

// queue is a queue of AddQueue.
type queue struct {
	name, server string
	counts       func(context.Context) (QueueCounts, error)
	open         context.Context // ends when the queue is removed

	mu     sync.Mutex
	asked  *asked // the current call of counts; nil if there is none
	latest QueueCounts
	at     time.Time // when latest was requested
}

// asked is a call of counts.
type asked struct {
	done chan struct{} // closed when the call has ended
	err  error         // set before done is closed
}

// AddQueue adds a queue to those that [Queues] returns, until remove is called. Package weirdebug shows these
// queues, and weirprom and weirotel export them. Package weirnats calls AddQueue for each open queue. server
// says where the messages are, without passwords, and tells queues of the same name apart. A second queue
// with the same name and server is listed once the first is removed. In name and server, _ replaces bytes
// that are not UTF-8, and U+FFFD.
//
// counts returns the present counts. A call of Queues calls counts on a new goroutine, unless a previous call
// of counts still runs: then both calls of Queues share its answer. counts should return when its context is
// done. A panic of counts is its error, a [*weir.Panic]. remove ends that context without waiting for counts to
// return, and may be called more than once.
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

// plain replaces what metrics systems refuse in a text.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return '_'
		}
		return r
	}, text)
}

// Queues asks all queues of [AddQueue] for their counts at once, and returns the queues in the order in which
// they were added. It waits until all have answered, until ctx is done, or for at most two seconds. A queue
// that has not answered, or whose answer is an error, has Err set and its previous counts. Without any queue,
// a call costs one lock.
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

// listed returns the queues; of several with the same name and server, only the first.
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

// ask starts a call of counts, unless one is running, and returns the running call.
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
		if value := recover(); value != nil { // a page that shows counts must not end the program
			err = fmt.Errorf("function for counts: %w", &weir.Panic{Value: value, Stack: inside.PanicStack()})
		}
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

// find returns the queue once a has ended or ctx is done.
func (q *queue) find(ctx context.Context, a *asked) Queue {
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	select { // an answer counts even if ctx is done too: other queues may have used up the time
	case <-a.done:
		err = a.err
	default:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return Queue{Name: q.name, Server: q.server, Counts: q.latest, At: q.at, Err: err}
}
