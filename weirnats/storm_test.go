package weirnats_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var stormFile = flag.String("storm", "", "the test of killed workers writes what happens in each second to this `file`, for lab/storm to draw")

// storm writes what is in the ledgers of a folder, once a second, from its beginning to its end. faults counts the workers that were killed or stopped so far.
type storm struct {
	t      *testing.T
	dir    string
	faults *atomic.Int32
	file   *os.File
	begin  time.Time
	end    chan struct{}
	all    sync.WaitGroup
}

// watchStorm returns a storm that has begun; nil if there is no flag.
func watchStorm(t *testing.T, dir string, faults *atomic.Int32) *storm {
	if *stormFile == "" {
		return nil
	}
	f, err := os.Create(*stormFile)
	noError(t, err)
	_, err = fmt.Fprintln(f, "# second put done again missing faults, each since the beginning; missing is put and not done")
	noError(t, err)
	s := &storm{t: t, dir: dir, faults: faults, file: f, begin: time.Now(), end: make(chan struct{})}
	s.all.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.note()
			case <-s.end:
				return
			}
		}
	})
	return s
}

// note writes a line.
func (s *storm) note() {
	put, again, missing := s.read("put"), 0, 0
	done := s.read("done") // after put: what is missing was put before
	for id := range put {
		if done[id] == 0 {
			missing++
		}
	}
	for _, times := range done {
		again += times - 1
	}
	_, err := fmt.Fprintf(s.file, "%.2f %d %d %d %d %d\n", time.Since(s.begin).Seconds(), len(put), len(done), again, missing, s.faults.Load())
	if err != nil {
		s.t.Error(err)
	}
}

// read counts the lines of a ledger that are complete.
func (s *storm) read(name string) map[string]int {
	text, err := os.ReadFile(s.dir + "/" + name)
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	all := make(map[string]int)
	for line := range bytes.Lines(text) {
		if id, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			all[string(id)]++
		}
	}
	return all
}

// over writes the last line, when the queue is empty.
func (s *storm) over() {
	if s == nil {
		return
	}
	close(s.end)
	s.all.Wait()
	s.note()
	noError(s.t, s.file.Close())
}
