package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/64ed045f/weir/verify/soak/internal/books"
)

// run runs the loads under a setting for a share of the time.
func (o *options) run(ctx context.Context, s setting, share time.Duration, p *progress) result {
	r := result{setting: s}
	names := make([]string, len(o.loads))
	for i, l := range o.loads {
		names[i] = l.Name
	}
	cmd := exec.CommandContext(ctx, s.program, "-child", "-for", share.String(),
		"-seed", strconv.FormatUint(o.seed, 10), "-patience", o.patience.String(),
		"-spin", strconv.Itoa(s.spin), "-loads", strings.Join(names, ","))
	cmd.Env = append(os.Environ(), s.env...)
	cmd.WaitDelay = 5 * time.Second
	errors := &tail{}
	cmd.Stderr = errors
	begin := time.Now()
	p.begin(s.name)
	err := o.follow(cmd, share, p, &r)
	r.took = time.Since(begin)
	p.end(share)
	r.stderr = errors.String()
	if ctx.Err() == nil && err != nil && len(r.Breaches) == 0 {
		r.Breaches = append(r.Breaches, books.Breach{Load: p.load, What: "the process has ended: " + err.Error()})
	}
	return r
}

// follow runs the process, and reads its messages.
func (o *options) follow(cmd *exec.Cmd, share time.Duration, p *progress, r *result) error {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// A process that cannot even report that it hangs, or that goes on and on, must print
	// its stacks.
	var fault atomic.Pointer[string]
	after := func(limit time.Duration, what string) *time.Timer {
		return time.AfterFunc(limit, func() {
			fault.Store(&what)
			_ = cmd.Process.Signal(syscall.SIGQUIT) // or Kill below ends it
			time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		})
	}
	guard := after(2*o.patience, fmt.Sprintf("it was silent for %v", 2*o.patience))
	overdue := after(share+o.overrun, fmt.Sprintf("a round goes on, though the time was over for %v", o.overrun))
	defer overdue.Stop()
	ended := false
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		guard.Reset(2 * o.patience)
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			r.Breaches = append(r.Breaches, books.Breach{What: fmt.Sprintf("the process wrote %q", line)})
			_ = cmd.Process.Kill() // or it has ended
			break
		}
		if m.End != nil {
			r.outcome, ended = *m.End, true
			continue
		}
		p.at(m.Load, m.Finished)
	}
	guard.Stop()
	err = cmd.Wait()
	switch what := fault.Load(); {
	case what != nil:
		return fmt.Errorf("%s: %w", *what, err)
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("it did not tell how")
	}
	return nil
}

// tail keeps the last part of what is written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 1 << 20

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > tailSize {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailSize/2:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
