package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/64ed045f/weir/lab/internal/machine"
	"github.com/64ed045f/weir/lab/internal/record"
)

const (
	payloadSize = 128
	places      = 64  // tasks that run at once
	atOnce      = 500 // messages in a batch
)

// place is where a contender has its queue.
type place struct {
	Dir    string // folder of an embedded server: empty, or from an earlier process
	Server string // folder of the socket of a server in a process of its own
	Always bool   // sync each message before it is accepted; if false, the contender's own lazier setting
}

// A contender is a library with the server or database in which it keeps messages.
type contender struct {
	name   string
	module string   // of the library; "" for weirnats
	server program  // in a process of its own; the zero value if it is embedded
	forms  []string // names of the calls that put several messages at once
	open   func(ctx context.Context, at place) (queue, error)
}

var contenders = []contender{weirQueues, natsQueues, riverQueues, asynqQueues}

// available returns the contenders whose servers are there, and the versions of these.
func available(say func(format string, args ...any)) (list []contender, servers []record.Setting) {
	for _, c := range contenders {
		if c.server.name != "" {
			version, err := c.server.version()
			if err != nil {
				say("without %s: %s is left out", c.server.name, c.name)
				continue
			}
			servers = append(servers, record.Setting{Key: machine.VersionKey + c.server.name, Value: version})
		}
		list = append(list, c)
	}
	return list, servers
}

// queue is the interface of all contenders. Several goroutines may call all methods but close at once.
type queue interface {
	// put returns when the message is accepted.
	put(ctx context.Context, payload []byte) error
	// putMany returns when all messages are accepted. form is one of the contender's forms.
	putMany(ctx context.Context, form string, payloads [][]byte) error
	// serve calls run with each message, for at most places messages at once, until stop has returned.
	serve(ctx context.Context, run func(payload []byte)) (stop func() error, err error)
	// left returns how many messages are accepted and not done.
	left(ctx context.Context) (int, error)
	close() error
}

// message returns the payload of the message with that number.
func message(number int64) []byte {
	payload := make([]byte, payloadSize)
	binary.BigEndian.PutUint64(payload, uint64(number))
	return payload
}

func messages(first int64, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = message(first + int64(i))
	}
	return all
}

// tally counts which messages ran.
type tally struct {
	seen  []atomic.Bool
	wrong atomic.Int64 // messages that had run before, or were never put
	ran   atomic.Int64
	all   chan struct{} // closed when all messages have run
}

func newTally(n int) *tally { return &tally{seen: make([]atomic.Bool, n), all: make(chan struct{})} }

func (t *tally) run(payload []byte) {
	if len(payload) != payloadSize {
		t.wrong.Add(1)
		return
	}
	number := binary.BigEndian.Uint64(payload)
	if number >= uint64(len(t.seen)) || t.seen[number].Swap(true) {
		t.wrong.Add(1)
		return
	}
	if t.ran.Add(1) == int64(len(t.seen)) {
		close(t.all)
	}
}

func (t *tally) check() error {
	if n := t.wrong.Load(); n > 0 {
		return fmt.Errorf("%d messages ran twice, or were never put", n)
	}
	return nil
}
