// Package embed runs NATS servers inside the process: one for each folder, shared by all queues that the process has there.
package embed

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/64ed045f/weir/weirnats/internal/check"
	"github.com/64ed045f/weir/weirnats/internal/folder"
	"github.com/64ed045f/weir/weirnats/internal/journal"
)

// MaxPayload is the largest message of an embedded server, with its headers.
const MaxPayload = 8 << 20

// maxPending is how many bytes may be on their way to one connection, which is one of this process: beyond that the server cuts it.
const maxPending = 1 << 30

// Store is where in the folder the server has its files.
const Store = "store"

// startTime is how long a server may take to come up before that is an error. Most of it goes into reading the index of its files.
const startTime = 2 * time.Minute

// Settings are those of a server. All uses of a server must have the same.
type Settings struct {
	// Sync says that each message is synced to the disk before it is accepted.
	Sync bool
	// Listen says where the server listens, nil for nowhere.
	Listen *Listen
}

// Server is a server in this process.
type Server struct {
	path     string
	settings Settings
	folder   *folder.Folder
	nats     *server.Server
	own      []nats.Option // with which the process itself logs in
	log      *logger
	// Under servers.Mutex.
	uses     int
	journals map[string]*journal.Journal
	ids      map[string]*journal.IDs
}

// servers are those of this process, by path. The mutex is held while one starts or ends, so that no second one starts on the same folder meanwhile.
var servers struct {
	sync.Mutex
	at map[string]*Server
}

// Acquire returns the server of the folder, and starts it if it is the first use. The error is a [*folder.InUseError] if another process has one there, and a [*check.DamagedError] if a file is damaged.
func Acquire(dir string, settings Settings, log *slog.Logger) (*Server, error) {
	path, err := folder.Resolve(dir)
	if err != nil {
		return nil, fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	servers.Lock()
	defer servers.Unlock()
	if s := servers.at[path]; s != nil {
		if s.settings.Sync != settings.Sync {
			return nil, fmt.Errorf("weirnats: folder %s is open in this process with another Durability", path)
		}
		if !s.settings.Listen.equal(settings.Listen) {
			return nil, fmt.Errorf("weirnats: folder %s is open in this process with another Listen", path)
		}
		s.uses++
		return s, nil
	}
	f, err := folder.Lock(path)
	if err != nil {
		return nil, err
	}
	s := &Server{path: path, settings: settings, folder: f, uses: 1}
	if err := s.start(log); err != nil {
		_ = f.Unlock() // the error that matters is the other one
		return nil, err
	}
	if servers.at == nil {
		servers.at = make(map[string]*Server)
	}
	servers.at[path] = s
	return s, nil
}

func (s *Server) start(log *slog.Logger) error {
	store, err := s.folder.Sub(Store)
	if err != nil {
		return fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	if err := mend(store, log); err != nil {
		return err
	}
	opts := &server.Options{
		ServerName:             "weir",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               store,
		SyncAlways:             s.settings.Sync,
		MaxPayload:             MaxPayload,
		MaxPending:             maxPending,
	}
	if l := s.settings.Listen; l != nil {
		if s.own, err = l.apply(opts); err != nil {
			return fmt.Errorf("weirnats: embedded server on %s: %w", s.path, err)
		}
	}
	s.nats, err = server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("weirnats: embedded server on %s: %w", s.path, err)
	}
	s.log = &logger{to: log}
	s.nats.SetLoggerV2(s.log, false, false, false)
	s.nats.Start()
	if s.log.ended() || !s.nats.ReadyForConnections(startTime) || !s.nats.JetStreamEnabled() {
		s.end()
		return fmt.Errorf("weirnats: embedded server on %s did not start: %s", s.path, s.log.lastError())
	}
	return nil
}

// mend checks the files that the server is about to read, and mends those that it was killed in the middle of. The error is a [*check.DamagedError] if one is damaged.
func mend(store string, log *slog.Logger) error {
	mends, err := check.Store(store)
	if err != nil {
		return fmt.Errorf("weirnats: embedded server: %w", err)
	}
	for _, m := range mends {
		log.Warn("weirnats: embedded server: file " + m.File + ": " + m.What)
		if err := m.Do(); err != nil {
			return fmt.Errorf("weirnats: embedded server: %w", err)
		}
	}
	if err := check.DropTimes(store); err != nil {
		return fmt.Errorf("weirnats: embedded server: %w", err)
	}
	return nil
}

func (s *Server) end() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// Health returns an error if the server cannot write any more, such as for want of room on the disk. It then needs a new start: it goes on to deliver messages, but forgets that they are done.
func (s *Server) Health() error {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.broken
}

// Connect returns a connection to the server.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append(append(opts, s.own...), nats.InProcessServer(s.nats))...)
}

// Addr returns where the server listens, nil if it does not.
func (s *Server) Addr() net.Addr {
	if s.settings.Listen == nil {
		return nil
	}
	return s.nats.Addr()
}

// Journal returns that of a queue. It is closed with the server.
func (s *Server) Journal(queue string) (*journal.Journal, error) {
	servers.Lock()
	defer servers.Unlock()
	if j := s.journals[queue]; j != nil {
		return j, nil
	}
	return opened(s, &s.journals, "running", queue, journal.Open)
}

// IDs returns those of a queue. They are closed with the server.
func (s *Server) IDs(queue string, window time.Duration) (*journal.IDs, error) {
	servers.Lock()
	defer servers.Unlock()
	if i := s.ids[queue]; i != nil {
		return i, nil
	}
	return opened(s, &s.ids, "ids", queue, func(name string) (*journal.IDs, error) { return journal.OpenIDs(name, window) })
}

// opened opens a file of a queue, in a folder of that name, and notes it.
func opened[F any](s *Server, files *map[string]F, folder, queue string, open func(name string) (F, error)) (f F, err error) {
	dir, err := s.folder.Sub(folder)
	if err != nil {
		return f, fmt.Errorf("weirnats: folder of the embedded server: %w", err)
	}
	if f, err = open(filepath.Join(dir, queue)); err != nil {
		return f, fmt.Errorf("weirnats: queue %s: %w", queue, err)
	}
	if *files == nil {
		*files = make(map[string]F)
	}
	(*files)[queue] = f
	return f, nil
}

// Release ends a use that Acquire has begun. With the last one the server ends, and the folder is free for the next process.
func (s *Server) Release() error {
	servers.Lock()
	defer servers.Unlock()
	if s.uses--; s.uses > 0 {
		return nil
	}
	s.end()
	delete(servers.at, s.path)
	var err error
	for _, j := range s.journals {
		err = errors.Join(err, j.Close())
	}
	for _, i := range s.ids {
		err = errors.Join(err, i.Close())
	}
	return errors.Join(err, s.folder.Unlock())
}

// logger hands what the server logs on, and keeps its last error.
type logger struct {
	to   *slog.Logger
	mu   sync.Mutex
	last string
	over bool // the server has given up

	broken error
}

func (l *logger) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

func (l *logger) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return "it gives no reason"
	}
	return l.last
}

func (l *logger) fail(format string, v []any) {
	text := fmt.Sprintf(format, v...)
	l.mu.Lock()
	l.last = text
	if l.broken == nil && saysBroken(format) {
		l.broken = errors.New(text) // the server says that in no other way
	}
	l.mu.Unlock()
	l.to.Error("weirnats: embedded server: " + text)
}

// saysBroken reports whether the server says with that format that it cannot write any more. The begin must be that of the server itself: what it says of a connection begins with its address, and has
// in it what the other side calls itself.
func saysBroken(format string) bool {
	low := strings.ToLower(format)
	return (strings.HasPrefix(format, "JetStream ") || strings.HasPrefix(format, "Filestore [")) &&
		(strings.Contains(low, "critical write error") || strings.Contains(low, "will be disabled"))
}

// Noticef, Warnf, Errorf, Fatalf, Debugf and Tracef implement [server.Logger]. None of them ends the process.
func (l *logger) Noticef(format string, v ...any) {
	l.to.Debug("weirnats: embedded server: " + fmt.Sprintf(format, v...))
}

func (l *logger) Warnf(format string, v ...any) {
	l.to.Warn("weirnats: embedded server: " + fmt.Sprintf(format, v...))
}
func (l *logger) Errorf(format string, v ...any) { l.fail(format, v) }
func (l *logger) Fatalf(format string, v ...any) {
	l.fail(format, v)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
func (l *logger) Debugf(string, ...any) {}
func (l *logger) Tracef(string, ...any) {}
