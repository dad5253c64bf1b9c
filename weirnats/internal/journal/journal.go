// Package journal notes in a file which messages a process runs, so that the next process knows what the last
// one did when it was killed. An embedded server dies with its process, and notes deliveries up to 100 ms
// late. Without the journal, a message that kills its process at once would look new each time.
//
// What is written survives the process, but not the machine. That is enough, and costs a system call.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
)

// slotSize is the size of an entry: the number of a message, the number of its try, and the complement of the
// latter.
const slotSize = 16

// Journal is a file that notes running messages. All methods may be called at once.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	slots map[uint64]slot
	done  []int64 // offsets of the slots of done messages, which the file still contains
	free  []int64 // offsets of empty slots
	end   int64   // the size of the file
}

type slot struct {
	at  int64
	try int
}

// Open opens the file, and makes it if it does not exist.
func Open(name string) (*Journal, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, slots: make(map[uint64]slot)}
	if err := j.load(); err != nil {
		defer f.Close()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return j, nil
}

func (j *Journal) load() error {
	text, err := os.ReadFile(j.file.Name())
	if err != nil {
		return err
	}
	for ; j.end+slotSize <= int64(len(text)); j.end += slotSize {
		number, try, ok := decode(text[j.end:])
		if old, is := j.slots[number]; !ok || is && old.try >= try {
			j.free = append(j.free, j.end)
			continue
		} else if is {
			j.free = append(j.free, old.at)
		}
		j.slots[number] = slot{j.end, try}
	}
	return nil
}

func encode(number uint64, try int) []byte {
	text := binary.LittleEndian.AppendUint64(nil, number)
	text = binary.LittleEndian.AppendUint32(text, uint32(try))
	return binary.LittleEndian.AppendUint32(text, ^uint32(try))
}

// decode reports false if text is not an entry.
func decode(text []byte) (number uint64, try int, ok bool) {
	number = binary.LittleEndian.Uint64(text)
	begun, check := binary.LittleEndian.Uint32(text[8:]), binary.LittleEndian.Uint32(text[12:])
	return number, int(begun), number > 0 && begun > 0 && check == ^begun
}

// Begun returns the number of the last try of a message that has begun, and not ended as far as the journal
// knows; 0 if there is none.
func (j *Journal) Begun(number uint64) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.slots[number].try
}

// Begin notes that a try begins.
func (j *Journal) Begin(number uint64, try int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.slots[number]
	done, free := len(j.done)-1, len(j.free)-1
	switch {
	case ok:
	case done >= 0:
		s.at, j.done = j.done[done], j.done[:done]
	case free >= 0:
		s.at, j.free = j.free[free], j.free[:free]
	default:
		s.at = j.end
		j.end += slotSize
	}
	s.try = try
	j.slots[number] = s
	_, err := j.file.WriteAt(encode(number, try), s.at)
	return err
}

// Done notes that the message is done: Begun returns 0 for it from now on. The file keeps the entry until the
// next call of Settle, or until Begin uses its slot again.
func (j *Journal) Done(number uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s, ok := j.slots[number]; ok {
		delete(j.slots, number)
		j.done = append(j.done, s.at)
	}
}

// Settle writes what Done has noted.
func (j *Journal) Settle() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	for _, at := range j.done {
		err = errors.Join(err, j.clear(at))
	}
	j.done = j.done[:0]
	return err
}

// clear empties a slot. The mutex is held.
func (j *Journal) clear(at int64) error {
	j.free = append(j.free, at)
	_, err := j.file.WriteAt(make([]byte, slotSize), at)
	return err
}

// End notes, at once, that the queue knows of the tries of the message.
func (j *Journal) End(number uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.slots[number]
	if !ok {
		return nil
	}
	delete(j.slots, number)
	return j.clear(s.at)
}

// Close closes the file.
func (j *Journal) Close() error { return errors.Join(j.Settle(), j.file.Close()) }
