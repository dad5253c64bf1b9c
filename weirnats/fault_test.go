package weirnats_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir"
	tests "github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/par"
	"github.com/64ed045f/weir/weirnats"
)

// The tests of this file run workers in processes of their own, and kill them. What was put and what was done is in files of the test, not of the queue.

var (
	faultTime = flag.Duration("faults", usualFaults, "how long each test of killed processes goes on")
	taskCount = flag.Int("tasks", 0, "the test of killed workers puts so many messages, if there are any, and kills one each second until they are done")
)

const (
	usualFaults = 1500 * time.Millisecond
	strikeTime  = 300 * time.Millisecond
	longTime    = 5 * time.Second // at least, of tests whose putters do not pause
	burst       = 64              // messages that a putter puts before it pauses
	burstPause  = 40 * time.Millisecond
)

// needsTime skips a test of faults that takes seconds of its own, unless the proofs or the command line ask for it.
func needsTime(t *testing.T) {
	t.Helper()
	if *faultTime == usualFaults && *taskCount == 0 {
		tests.NeedsProofs(t, "servers and processes take seconds to start again")
	}
}

// breathe is called after message i of those that a goroutine puts one after the other. It pauses after each burst, so that what is left after a short test is done soon.
func breathe(i int) {
	if i%burst == burst-1 && *faultTime < longTime {
		time.Sleep(burstPause)
	}
}

// after returns what reports whether the time has passed.
func after(d time.Duration) (over func() bool) {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

func faultsFor() time.Duration {
	if testing.Short() {
		return min(time.Second, *faultTime)
	}
	return *faultTime
}

// children are the programs that a process of the test binary may be, by name.
var children = map[string]func() error{
	"embedded": childEmbedded,
	"later":    childLater,
	"worker":   childWorker,
	"hold":     childHold,
	"poison":   childPoison,
	"node":     childNode,
	"server":   childServer,
}

const (
	childName = "WEIRNATS_CHILD"
	childDir  = "WEIRNATS_DIR"
	childURL  = "WEIRNATS_URL"
)

// child is a process that runs one of the children.
type child struct {
	*exec.Cmd
	out *bufio.Reader
}

// start starts a child, and returns when it is ready. dir is for the files of the test, and those of an embedded server.
func start(t testing.TB, name, dir, url string) *child {
	t.Helper()
	c := begin(t, name, dir, url)
	c.ready(t)
	return c
}

func begin(t testing.TB, name, dir, url string) *child {
	t.Helper()
	c := command(t, name, dir, url)
	noError(t, c.Start())
	t.Cleanup(c.kill) // if the test has not
	return c
}

func command(t testing.TB, name, dir, url string) *child {
	t.Helper()
	exe, err := os.Executable()
	noError(t, err)
	c := &child{Cmd: exec.Command(exe, "-faults="+faultTime.String())}
	c.Env = append(os.Environ(), childName+"="+name, childDir+"="+dir, childURL+"="+url)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	noError(t, err)
	c.out = bufio.NewReader(out)
	return c
}

// ready returns when the child says that it is.
func (c *child) ready(t testing.TB) {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if line != "ready\n" {
		c.kill()
		t.Fatalf("a child says %q: %v", line, err)
	}
}

func (c *child) kill() {
	_ = c.Process.Kill() // it may have ended
	_ = c.Wait()         // it was killed
}

// ledger is a file of lines, each of which is there when add has returned, also if the process is killed then.
type ledger struct{ *os.File }

func openLedger(dir, name string) (ledger, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return ledger{f}, err
}

func (l ledger) add(line string) error {
	_, err := l.WriteString(line + "\n")
	return err
}

// lines counts those of a ledger.
func lines(t *testing.T, dir, name string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	noError(t, err)
	all := map[string]int{}
	for line := range strings.Lines(string(text)) {
		all[strings.TrimSpace(line)]++
	}
	return all
}

// account compares what was put with what was done, and returns how often something was done again.
func account(t *testing.T, dir string) (again int) {
	t.Helper()
	put, done := lines(t, dir, "put"), lines(t, dir, "done")
	lost := 0
	for id := range put {
		if done[id] == 0 {
			lost++
		}
	}
	for _, times := range done {
		again += times - 1
	}
	t.Logf("put %d, done %d, lost %d, done again %d", len(put), len(done), lost, again)
	if lost > 0 || len(put) == 0 {
		t.Errorf("lost %d of %d", lost, len(put))
	}
	return again
}

const (
	childPlaces = 8
	mostUnsure  = 256 // as DoubleAck says
	childLease  = time.Second
	poisonLease = 300 * time.Millisecond
)

var childOptions = []weirnats.Option{
	quiet,
	weirnats.Lease(childLease),
	weirnats.MaxMessages(100_000), // what waits at the end of a long test is done within seconds
	weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 1000, Wait: time.Millisecond, MostWait: 10 * time.Millisecond})),
}

// What a test says to its children.
const (
	noMore = "no more" // nothing more shall be put
	sure   = "sure"    // no message is done before the server has confirmed that
	synced = "synced"  // the embedded server, or the one whose folder it is, syncs each message
)

func say(t *testing.T, dir, what string) {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(dir, what), nil, 0o600))
}

// is reports whether that was said.
func is(dir, what string) bool {
	_, err := os.Stat(filepath.Join(dir, what))
	return err == nil
}

// program is what a child works with. Its ledgers are of what was put, has begun and was done.
type program struct {
	*weirnats.Queue[string]
	pool             *weir.Pool
	put, begun, done ledger
}

func openProgram(opts ...weirnats.Option) (p program, err error) {
	dir := os.Getenv(childDir)
	if url := os.Getenv(childURL); url != "" {
		opts = append(opts, weirnats.Server(url))
	} else {
		opts = append(opts, weirnats.Dir(filepath.Join(dir, "queues")))
	}
	if is(dir, sure) {
		opts = append(opts, weirnats.DoubleAck())
	}
	if is(dir, synced) {
		opts = append(opts, weirnats.Always)
	}
	if p.Queue, err = weirnats.Open[string](context.Background(), "work", append(slices.Clip(childOptions), opts...)...); err != nil {
		return p, err
	}
	p.pool = weir.New(childPlaces, weir.OnError(func(error) {}))
	for name, to := range map[string]*ledger{"put": &p.put, "begun": &p.begun, "done": &p.done} {
		if *to, err = openLedger(dir, name); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p program) serve(ctx context.Context) error {
	return p.Serve(ctx, p.pool, func(_ context.Context, id string) error {
		if rand.N(20) == 0 {
			return errors.New("on purpose")
		}
		time.Sleep(rand.N(2 * time.Millisecond))
		return p.done.add(strings.TrimSpace(id)) // short lines: at the end of the room for a file a long one would be written in part
	})
}

// puts puts messages with the IDs and options that next returns, one after the other, unless the test has said that there shall be no more.
func (p program) puts(next func(i int) (id string, opts []weirnats.PutOption)) {
	if is(os.Getenv(childDir), noMore) {
		return
	}
	for i := 0; ; i++ {
		id, opts := next(i)
		err := p.Put(context.Background(), id, append(opts, weirnats.ID(id))...)
		if err == nil {
			err = p.put.add(id)
		}
		if err != nil {
			panic(err)
		}
		breathe(i)
	}
}

// childWorker serves.
func childWorker() error {
	p, err := openProgram()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return p.serve(context.Background())
}

// childEmbedded puts and serves.
func childEmbedded() error {
	p, err := openProgram()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for putter := range 4 {
		go p.puts(func(i int) (string, []weirnats.PutOption) { return fmt.Sprint(os.Getpid(), "-", putter, "-", i), nil })
	}
	return p.serve(context.Background())
}

// childLater puts messages for later, some of them for soon and some for when it may have been killed, and serves.
func childLater() error {
	p, err := openProgram()
	if err != nil {
		return err
	}
	early, err := openLedger(os.Getenv(childDir), "early")
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go p.puts(func(i int) (string, []weirnats.PutOption) {
		time.Sleep(rand.N(time.Millisecond))
		due := time.Now().Add(rand.N(time.Second / 2))
		return fmt.Sprint(os.Getpid(), "-", i, "-", due.UnixNano()), []weirnats.PutOption{weirnats.At(due)}
	})
	return p.Serve(context.Background(), p.pool, func(_ context.Context, id string) error {
		due, err := strconv.ParseInt(id[strings.LastIndex(id, "-")+1:], 10, 64)
		if err != nil {
			return err
		}
		if left := time.Until(time.Unix(0, due)); left > 0 {
			return early.add(fmt.Sprint(id, " ", left))
		}
		return p.done.add(id)
	})
}

// childHold has the folder open.
func childHold() error {
	if _, err := openProgram(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// childPoison has a function that ends the process at once for some messages. It ends by itself when the queue is empty.
func childPoison() error {
	p, err := openProgram(weirnats.Lease(poisonLease), weirnats.Retry(weir.Retry(weir.RetryPolicy{Tries: 4, Wait: time.Millisecond, MostWait: time.Millisecond})))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go func() {
		for {
			time.Sleep(10 * time.Millisecond)
			if s, err := p.Stats(context.Background()); err == nil && s.Messages == 0 {
				os.Exit(0)
			}
		}
	}()
	return p.Serve(context.Background(), p.pool, func(_ context.Context, id string) error {
		if strings.HasPrefix(id, "poison") {
			os.Exit(3)
		}
		if strings.HasSuffix(id, "slow") { // it is there when the process is ended
			time.Sleep(poisonLease / 2)
		}
		return p.done.add(id)
	})
}

func TestTheFolderIsLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t, "hold", dir, "")
	queues := filepath.Join(dir, "queues")
	path, err := filepath.EvalSymlinks(queues)
	noError(t, err)
	_, err = weirnats.Open[string](t.Context(), "other", weirnats.Dir(queues))
	isError(t, err, weirnats.ErrInUse)
	if used, ok := errors.AsType[*weirnats.InUseError](err); !ok || used.Dir != path || used.PID != c.Process.Pid {
		t.Errorf("error is %v, the process %d", err, c.Process.Pid)
	}
	c.kill()
	q := open[string](t, queues, "other")
	noError(t, q.Put(t.Context(), "x"))
}

// A program with an embedded server is killed again and again, while it puts and serves.
func TestAProgramThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, setUp func(dir string)) {
		dir := t.TempDir()
		setUp(dir)
		killAgain(t, "embedded", dir, faultsFor(), 500*time.Millisecond)
	})
}

// inBothWays runs a test twice: setUp does nothing to a folder, or has the server there sync each message.
func inBothWays(t *testing.T, test func(t *testing.T, setUp func(dir string))) {
	for _, durability := range []weirnats.Durability{weirnats.Lazy, weirnats.Always} {
		t.Run(durability.String(), func(t *testing.T) {
			t.Parallel()
			test(t, func(dir string) {
				if durability == weirnats.Always {
					say(t, dir, synced)
				}
			})
		})
	}
}

// A program with an embedded server is killed again and again, while it puts messages for later and serves what is due.
func TestAProgramThatIsKilledLosesNoMessageForLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	say(t, dir, sure)
	killAgain(t, "later", dir, faultsFor()*2/3, 700*time.Millisecond)
	for line := range lines(t, dir, "early") {
		t.Errorf("early: %s", line)
	}
}

// killAgain starts a child and kills it within that time, for so long. Then one does what is left, and nothing may be lost.
func killAgain(t *testing.T, name, dir string, span, most time.Duration) {
	t.Helper()
	kills := 0
	for end := time.Now().Add(span); time.Now().Before(end); kills++ {
		c := start(t, name, dir, "")
		time.Sleep(rand.N(most))
		c.kill()
	}
	say(t, dir, noMore)
	c := start(t, name, dir, "")
	allDone(t, dir)
	c.kill()
	accountFor(t, dir, kills)
}

// allDone waits until all is done that was put.
func allDone(t *testing.T, dir string) {
	t.Helper()
	put := lines(t, dir, "put")
	within(t, "done", func() bool {
		time.Sleep(50 * time.Millisecond)
		done := lines(t, dir, "done")
		for id := range put {
			if done[id] == 0 {
				return false
			}
		}
		return true
	})
}

// accountFor is account after so many faults, each of which may have what was under way in a process done again, and if the children were not to be sure what was done there without the server
// knowing: that comes about on a busy machine.
func accountFor(t *testing.T, dir string, faults int) {
	t.Helper()
	again := account(t, dir)
	t.Logf("%d faults", faults)
	most := faults * childPlaces
	if !is(dir, sure) {
		most += faults * mostUnsure
	}
	if again > most {
		t.Errorf("%d were done again, more than %d", again, most)
	}
}

// putting puts on four goroutines until stop is called, and notes the IDs that put returns.
func putting(t *testing.T, dir string, put func(ctx context.Context, i, j int) (id string, err error)) (stop func()) {
	t.Helper()
	ledger, err := openLedger(dir, "put")
	noError(t, err)
	var over atomic.Bool
	putters := weir.NewGroup(t.Context(), 4)
	for i := range 4 {
		putters.Go(func(ctx context.Context) error {
			for j := 0; !over.Load(); j++ {
				id, err := put(ctx, i, j)
				if err != nil {
					return err
				}
				if err := ledger.add(id); err != nil {
					return err
				}
				breathe(j)
			}
			return nil
		})
	}
	return func() {
		t.Helper()
		over.Store(true)
		noError(t, putters.Wait())
	}
}

// insisting puts into q until that succeeds: what fails may have been put, and with its ID it is put once. Half of the messages have one of so many keys, if that is not 0.
func insisting(q *weirnats.Queue[string], keys int) func(ctx context.Context, i, j int) (id string, err error) {
	return func(ctx context.Context, i, j int) (string, error) {
		id := fmt.Sprint(i, "-", j)
		opts := []weirnats.PutOption{weirnats.ID(id)}
		if i%2 == 0 && keys > 0 {
			key := fmt.Sprint(i, "/", j%(keys/2))
			id = fmt.Sprint(key, "-", j)
			opts = append(opts, weirnats.Key(key))
		}
		for {
			once, cancel := context.WithTimeout(ctx, 2*time.Second)
			err := q.Put(once, id, opts...)
			cancel()
			if err == nil || ctx.Err() != nil {
				return id, err
			}
		}
	}
}

// childWorkers are children on one server.
type childWorkers struct {
	t        *testing.T
	workers  []*child
	name     string
	dir, url string
}

func startWorkers(t *testing.T, name, dir, url string) *childWorkers {
	t.Helper()
	c := &childWorkers{t: t, name: name, dir: dir, url: url}
	for range 3 {
		c.workers = append(c.workers, start(t, name, dir, url))
	}
	return c
}

// strike kills one after the other, or stops it for longer than the lease, with pauses up to most, until it is over, and counts that.
func (c *childWorkers) strike(faults *atomic.Int32, most time.Duration, over func() bool) {
	c.t.Helper()
	for ; !over(); faults.Add(1) {
		time.Sleep(rand.N(most))
		w := &c.workers[rand.N(len(c.workers))]
		if faults.Load()%4 == 3 && suspend(*w) {
			time.Sleep(childLease * 3 / 2)
			resume(*w)
			continue
		}
		(*w).kill()
		*w = start(c.t, c.name, c.dir, c.url)
	}
}

// end kills all, and checks that nothing was lost, and no message of q has died.
func (c *childWorkers) end(q *weirnats.Queue[string], faults int) {
	c.t.Helper()
	for _, w := range c.workers {
		w.kill()
	}
	accountFor(c.t, c.dir, faults)
	for l, err := range q.Dead(c.t.Context()) {
		noError(c.t, err)
		c.t.Errorf("%s is dead: %v", l.Data, l.Errors)
	}
}

// Workers of one server are killed, and stopped for longer than the lease.
func TestWorkersThatAreKilledLoseNothing(t *testing.T) {
	needsTime(t)
	t.Parallel()
	dir, files := t.TempDir(), t.TempDir()
	say(t, dir, sure) // a kill has no more done again than the process has places
	s := listen(t, files)
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	q, err := weirnats.Open[string](t.Context(), "work", append(slices.Clip(childOptions), weirnats.Server(s.ClientURL()))...)
	noError(t, err)
	defer q.Close()
	workers := startWorkers(t, "worker", dir, s.ClientURL())
	var faults atomic.Int32
	watched := watchStorm(t, dir, &faults)
	if *taskCount > 0 {
		workers.strike(&faults, 2*time.Second, tasks(t, dir, q))
	} else {
		stop := putting(t, dir, func(ctx context.Context, i, j int) (string, error) {
			id := fmt.Sprint(i, "-", j)
			return id, q.Put(ctx, id)
		})
		workers.strike(&faults, strikeTime, after(faultsFor()))
		stop()
	}
	drained(t, q)
	watched.over()
	workers.end(q, int(faults.Load()))
}

// tasks puts so many as the flag says, and returns what reports whether all of them are done.
func tasks(t *testing.T, dir string, q *weirnats.Queue[string]) (over func() bool) {
	t.Helper()
	ledger, err := openLedger(dir, "put")
	noError(t, err)
	ids := make([]string, *taskCount)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	all := make(chan error, 1)
	go func() {
		all <- par.Each(t.Context(), slices.Collect(slices.Chunk(ids, 1000)), func(ctx context.Context, some []string) error {
			if _, err := q.PutAll(ctx, some, nil); err != nil {
				return err
			}
			return ledger.add(strings.Join(some, "\n"))
		})
	}()
	put := false
	return func() bool {
		t.Helper()
		select {
		case err := <-all:
			noError(t, err)
			put = true
		default:
		}
		s, err := q.Stats(t.Context())
		return put && err == nil && s.Messages == 0
	}
}

// listen starts a server with its files in dir, on a port of its own or that of an earlier one.
func listen(t *testing.T, dir string, port ...int) *server.Server {
	t.Helper()
	at := server.RANDOM_PORT
	if len(port) > 0 {
		at = port[0]
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: at, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	noError(t, err)
	s.Start()
	if !s.ReadyForConnections(limit) {
		t.Fatal("the server does not start")
	}
	return s
}

// A server is killed and starts again while messages are put and served. The order of each key holds.
func TestAServerThatStartsAgainLosesNothing(t *testing.T) {
	needsTime(t)
	t.Parallel()
	inBothWays(t, serverStartsAgain)
}

func serverStartsAgain(t *testing.T, setUp func(dir string)) {
	t.Helper()
	dir, files := t.TempDir(), t.TempDir()
	setUp(files)
	s := start(t, "server", files, "")
	url, err := s.out.ReadString('\n')
	noError(t, err)
	url = strings.TrimSpace(url)
	defer func() { s.kill() }()
	q, err := weirnats.Open[string](t.Context(), "work", append(keyedOptions(), weirnats.Server(url, nats.ReconnectWait(10*time.Millisecond)))...)
	noError(t, err)
	defer q.Close()
	p := newPool(t, childPlaces)
	stop := serve(t, q, p, noting(t, dir))
	stopPutting := putting(t, dir, insisting(q, 10))
	// A server that is killed while it changes the subjects of a stream does not have that when it starts, until the queue is opened.
	within(t, "the first message with a key is put", func() bool { return lines(t, dir, "put")["0/0-0"] > 0 })
	for over := after(faultsFor()); !over(); {
		time.Sleep(rand.N(500 * time.Millisecond))
		s.kill()
		s = start(t, "server", files, url)
	}
	within(t, "messages are put", func() bool { return eachKey(t, dir) })
	stopPutting()
	allDone(t, dir) // and not until the queue is empty: a server that is killed may keep a message that is done, and deliver it no more
	stop()
	account(t, dir)
	inOrder(t, dir, 10)
}

// eachKey reports whether insisting has put messages with each of 10 keys.
func eachKey(t *testing.T, dir string) bool {
	t.Helper()
	put := lines(t, dir, "put")
	return put["0/4-4"]+put["2/4-4"] == 2
}

// noting is a function for Serve that notes which messages with a key it begins, and which ones it has done.
func noting(t *testing.T, dir string) func(ctx context.Context, id string) error {
	t.Helper()
	begun, err := openLedger(dir, "begun")
	noError(t, err)
	done, err := openLedger(dir, "done")
	noError(t, err)
	return func(_ context.Context, id string) error {
		if strings.Contains(id, "/") {
			if err := begun.add(id); err != nil {
				return err
			}
		}
		return done.add(id)
	}
}

// A message that kills its process becomes a dead letter, also if it does so at once, and with it the embedded server.
func TestPoisonEndsInTheDeadLetters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	queues := filepath.Join(dir, "queues")
	opts := append(slices.Clip(childOptions), weirnats.Dir(queues), weirnats.Lease(poisonLease))
	q, err := weirnats.Open[string](t.Context(), "work", opts...)
	noError(t, err)
	const good = 200
	for i := range good {
		id := fmt.Sprint(i)
		if i%100 == 50 {
			noError(t, q.Put(t.Context(), fmt.Sprint("poison", i)))
			id += "slow"
		}
		if i%100 == 49 {
			id += "slow"
		}
		noError(t, q.Put(t.Context(), id))
	}
	noError(t, q.Close())
	for kills := 0; start(t, "poison", dir, "").Wait() != nil; kills++ {
		if kills > 30 {
			t.Fatal("it is killed again and again")
		}
	}
	equal(t, "messages that were done", len(lines(t, dir, "done")), good)
	q = open[string](t, queues, "work", opts...)
	var dead []string
	for l, err := range q.Dead(t.Context()) {
		noError(t, err)
		v, err := q.Decode(l)
		noError(t, err)
		dead = append(dead, fmt.Sprint(v, " ", l.Tries))
	}
	slices.Sort(dead)
	equal(t, "dead letters", strings.Join(dead, ", "), "poison150 4, poison50 4")
	s, err := q.Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 0)
}
