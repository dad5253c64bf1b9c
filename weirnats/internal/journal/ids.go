package journal

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/64ed045f/weir/weirnats/internal/backend"
	"github.com/64ed045f/weir/weirnats/internal/folder"
)

// idSize is the size of an entry: when the message was put, in ns, and the hash of its deduplication ID.
const idSize = 8 + len(backend.IDHash{})

// IDs are the deduplication IDs of messages that are done. Each is kept for the window, counted from when its
// message was put. A server knows the IDs of messages that it has had since its start, or still has; the IDs
// here are those that only earlier servers knew. All methods may be called at once.
//
// There are two files. The older one is dropped when all of the newer one is older than the window, so they
// hold two windows at most.
type IDs struct {
	name   string
	window time.Duration
	known  atomic.Pointer[map[backend.IDHash]int64] // IDs that earlier servers knew, with the times when they were put

	mu   sync.Mutex
	file *os.File
	end  int64
	turn time.Time // when the file must become the older one; zero while it is empty

	unwritten map[backend.IDHash]int64 // IDs that could not be written
}

// OpenIDs opens the file with that name, and the older one, whose name is derived from it. It makes what does
// not exist.
func OpenIDs(name string, window time.Duration) (*IDs, error) {
	i := &IDs{name: name, window: window}
	if err := i.Reload(); err != nil {
		return nil, err
	}
	if err := i.compact(); err != nil {
		return nil, err
	}
	return i, i.open()
}

// Reload must be called after the end of a server and before the start of the next one, which does not know
// the IDs that were remembered meanwhile.
func (i *IDs) Reload() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	known := make(map[backend.IDHash]int64)
	for _, name := range []string{i.older(), i.name} {
		if err := i.load(name, known); err != nil {
			return err
		}
	}
	i.cut()
	maps.Copy(known, i.unwritten)
	i.known.Store(&known)
	return nil
}

func (i *IDs) older() string { return i.name + ".older" }

func (i *IDs) load(name string, known map[backend.IDHash]int64) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	after := time.Now().Add(-i.window).UnixNano()
	for ; len(text) >= idSize; text = text[idSize:] { // the last entry may be incomplete
		if put := int64(binary.LittleEndian.Uint64(text)); put > after {
			known[backend.IDHash(text[8:])] = put
		}
	}
	return err
}

// compact merges both files into the older one, without the IDs that are too old.
func (i *IDs) compact() error {
	known := *i.known.Load()
	if len(known) == 0 {
		return errors.Join(remove(i.older()), remove(i.name))
	}
	text := make([]byte, 0, len(known)*idSize)
	for h, put := range known {
		text = appendEntry(text, h, put)
	}
	if err := folder.Write(i.older(), text); err != nil { // first: no file has all of them otherwise
		return err
	}
	return remove(i.name)
}

func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func appendEntry(to []byte, h backend.IDHash, put int64) []byte {
	return append(binary.LittleEndian.AppendUint64(to, uint64(put)), h[:]...)
}

// open opens the newer file.
func (i *IDs) open() (err error) {
	if i.file, err = os.OpenFile(i.name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if i.end, err = i.file.Seek(0, io.SeekEnd); err != nil {
		err = errors.Join(err, i.file.Close())
		i.file = nil
		return err
	}
	i.end -= i.end % int64(idSize) // the last entry may be incomplete
	i.turn = time.Time{}
	if i.end > 0 { // change or compact could not make it the older one
		i.turn = time.Now().Add(i.window)
	}
	return nil
}

// Known reports whether a message with that ID was put within the window, and was done before the server
// started.
func (i *IDs) Known(id string) bool {
	known := *i.known.Load()
	if len(known) == 0 {
		return false
	}
	put, ok := known[backend.HashOf(id)]
	return ok && time.Since(time.Unix(0, put)) < i.window
}

// Remember notes that a message with that ID, which was put at time put, is done, or will be at once.
func (i *IDs) Remember(id string, put time.Time) error {
	now := time.Now()
	if now.Sub(put) >= i.window {
		return nil
	}
	entry := appendEntry(nil, backend.HashOf(id), put.UnixNano())
	i.mu.Lock()
	defer i.mu.Unlock()
	var changed error
	if !i.turn.IsZero() && now.After(i.turn) {
		changed = i.change()
	}
	if i.turn.IsZero() {
		i.turn = now.Add(i.window)
	}
	_, err := i.file.WriteAt(entry, i.end)
	if err == nil {
		i.end += int64(len(entry))
		_ = i.makeUp() // Close tries again
	} else {
		if i.unwritten == nil {
			i.unwritten = make(map[backend.IDHash]int64)
		}
		i.unwritten[backend.HashOf(id)] = put.UnixNano()
		if len(i.unwritten)&(len(i.unwritten)-1) == 0 { // it has doubled
			i.cut()
		}
	}
	return errors.Join(changed, err)
}

// change makes the file the older one, and begins a new file. If it cannot make it the older one, the file
// goes on for another window. If it cannot open a file, the next call tries again. The mutex is held.
func (i *IDs) change() error {
	var closed, renamed error
	if i.file != nil {
		closed = i.file.Close() // whatever it returns, the file is closed
		renamed = os.Rename(i.name, i.older())
	}
	return errors.Join(closed, renamed, i.open(), i.makeUp())
}

// makeUp writes the IDs that could not be written. The mutex is held.
func (i *IDs) makeUp() error {
	if i.file == nil || len(i.unwritten) == 0 {
		return nil
	}
	i.cut()
	var text []byte
	for h, put := range i.unwritten {
		text = appendEntry(text, h, put)
	}
	if _, err := i.file.WriteAt(text, i.end); err != nil {
		return err
	}
	i.end += int64(len(text))
	i.unwritten = nil
	return nil
}

// cut forgets the IDs that could not be written and are too old. The mutex is held.
func (i *IDs) cut() {
	after := time.Now().Add(-i.window).UnixNano()
	maps.DeleteFunc(i.unwritten, func(_ backend.IDHash, put int64) bool { return put <= after })
}

// Close closes the files.
func (i *IDs) Close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.file == nil { // change could not open it
		return nil
	}
	return errors.Join(i.makeUp(), i.file.Close())
}
