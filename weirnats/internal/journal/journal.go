// Package journal notes in a file which messages a process runs, so that the next process knows what the last one did when it was killed. An embedded
// server dies with its process, and notes deliveries up to 100 ms late: a message that kills its process at once would be as new each time.
//
// What is written survives the process, not the machine: that is enough, and costs a system call.
package journal

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
)

// slotSize is the size of an entry: the number of a message, the number of its try, and the complement of that.
const slotSize = 16

// Journal is such a file. All methods may be called at once.
type Journal struct {
	mu    sync.Mutex
	file  *os.File
	slots map[uint64]slot
	free  []int64 // places of slots that are empty
	end   int64   // of the file
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

// decode reports false for what is no entry.
func decode(text []byte) (number uint64, try int, ok bool) {
	number = binary.LittleEndian.Uint64(text)
	begun, check := binary.LittleEndian.Uint32(text[8:]), binary.LittleEndian.Uint32(text[12:])
	return number, int(begun), number > 0 && begun > 0 && check == ^begun
}

// Begun returns the number of the last try of a message that has begun, and not ended as far as the journal knows; 0 if there is none.
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
	switch last := len(j.free) - 1; {
	case ok:
	case last >= 0:
		s.at = j.free[last]
		j.free = j.free[:last]
	default:
		s.at = j.end
		j.end += slotSize
	}
	s.try = try
	j.slots[number] = s
	_, err := j.file.WriteAt(encode(number, try), s.at)
	return err
}

// End notes that the message is done, or that the queue knows of its tries.
func (j *Journal) End(number uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.slots[number]
	if !ok {
		return nil
	}
	delete(j.slots, number)
	j.free = append(j.free, s.at)
	_, err := j.file.WriteAt(make([]byte, slotSize), s.at)
	return err
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
