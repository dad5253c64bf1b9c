package check

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
)

// A block is a file of records, each of which is
//
//	length (4) | sequence (8) | time (8) | length of the subject (2) | subject | [length of the headers (4) | headers] | data | checksum (8)
//
// with the least byte first. The checksum covers everything except the three lengths. A bit of the first
// length says that there are headers. One bit of the sequence says that the message is erased, and its
// content random. Another says that the record is a tombstone: the message with that sequence was removed,
// here or in an earlier block.
const (
	headSize   = 22
	sumSize    = 8
	leastSize  = headSize + sumSize
	mostSize   = 32 << 20
	hasHeaders = 1 << 31
	isErased   = 1 << 63
	isTomb     = 1 << 62
)

// mostBlock is larger than any block of the server: a block ends with the record that makes it larger than 8
// MiB.
const mostBlock = 8<<20 + mostSize

// mostHashed is how many bytes the search for a whole record may hash, as a multiple of the size of the
// block. Messages can be made so that each byte of them looks like the beginning of a record of megabytes.
const mostHashed = 64

// stream is what is known of a stream.
type stream struct {
	name   string
	listed bool // list the messages that are there
	// The highest sequence that a record has.
	last uint64
	// The messages that are there, in ascending order, if they are listed.
	there []message
	// The messages that may or may not be there: see doubtIn.
	doubt map[uint64]bool

	bad *DamagedError // the first place that cannot be read; nil if there is none
}

type message struct {
	seq     uint64
	subject string
}

// record is a whole record.
type record struct {
	size    int
	seq     uint64 // without the bits of tomb and erased
	tomb    bool
	erased  bool
	subject []byte
}

// blocks checks the blocks of the stream in the folder path. An unreadable part is damage if a whole record
// follows it. Otherwise it is the end of what was written.
func (c *checker) blocks(path string, s *stream) error {
	dir := filepath.Join(path, "msgs")
	// If a purge was interrupted, the server removes that folder, and uses the other one instead.
	if other := filepath.Join(path, "__new_msgs__"); len(blockFiles(other)) > 0 {
		dir = other
	}
	if _, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files := blockFiles(dir)
	var tombs []uint64
	var kept []span
	for i, f := range files {
		text, err := c.read(filepath.Join(dir, f.name))
		if err != nil {
			return err
		}
		b := &block{file: filepath.Join(dir, f.name), text: text, plain: plainSubject(s.name)}
		key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", s.name, f.number))
		if b.hash, err = highwayhash.NewDigest64(key[:]); err != nil {
			return err
		}
		from := len(s.there)
		dead, err := b.read(s)
		if err != nil {
			return err
		}
		if !s.listed {
			continue
		}
		tombs = append(tombs, dead...)
		if to := len(s.there); i < len(files)-1 && from < to && len(dead) > 0 && slices.Min(dead) < s.there[from].seq {
			kept = append(kept, span{from, to})
		}
	}
	slices.Sort(tombs)
	s.doubtIn(kept, tombs)
	s.there = slices.DeleteFunc(s.there, func(m message) bool { return has(tombs, m.seq) })
	return nil
}

// span is a part of the messages: from the first index up to, but not including, the second.
type span struct{ from, to int }

func has(sorted []uint64, seq uint64) bool {
	_, found := slices.BinarySearch(sorted, seq)
	return found
}

// doubtIn notes which messages may or may not be there. They are the last ones of blocks with tombstones of
// earlier blocks. The server keeps such a block when its last message is removed, and writes no tombstone for
// that message.
func (s *stream) doubtIn(kept []span, tombs []uint64) {
	s.doubt = make(map[uint64]bool)
	for _, k := range kept {
		left := 0
		var seq uint64
		for _, m := range s.there[k.from:k.to] {
			if !has(tombs, m.seq) {
				left++
				seq = m.seq
			}
		}
		if left == 1 {
			s.doubt[seq] = true
		}
	}
}

type blockFile struct {
	name   string
	number uint32
}

// blockFiles returns the blocks in a folder, in order.
func blockFiles(dir string) (files []blockFile) {
	entries, _ := os.ReadDir(dir) // a missing folder has none
	for _, e := range entries {
		text, ok := strings.CutSuffix(e.Name(), ".blk")
		if number, err := strconv.ParseUint(text, 10, 32); ok && err == nil {
			files = append(files, blockFile{e.Name(), uint32(number)})
		}
	}
	slices.SortFunc(files, func(a, b blockFile) int { return cmp.Compare(a.number, b.number) })
	return files
}

// read reads a file into the buffer.
func (c *checker) read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > mostBlock {
		return nil, &DamagedError{File: file, Offset: mostBlock, Err: errors.New("it is larger than any that the server makes")}
	}
	c.buf = slices.Grow(c.buf[:0], int(info.Size()))[:info.Size()]
	n, err := io.ReadFull(f, c.buf)
	if err != nil {
		return nil, fmt.Errorf("read %s: %d bytes of %d: %w", file, n, info.Size(), err)
	}
	return c.buf, nil
}

// block is a block while it is read.
type block struct {
	file   string
	text   []byte
	hash   *highwayhash.Digest64
	hashed int
	plain  []byte // the subject of messages without headers; empty if there may be others
}

// errCut is the error of a record that goes on beyond the end of the file.
var errCut = errors.New("a record is longer than the rest of the file")

// read reads the records. It returns the sequences for which there are tombstones.
func (b *block) read(s *stream) (tombs []uint64, err error) {
	for at := 0; at < len(b.text); {
		r, err := b.record(at)
		if err != nil {
			if s.bad == nil {
				s.bad = &DamagedError{File: b.file, Offset: int64(at), Err: err}
			}
			whole, err := b.wholeBehind(at)
			if err != nil {
				s.bad.Err = fmt.Errorf("%w, and %w", s.bad.Err, err)
				return nil, s.bad
			}
			if whole > 0 {
				s.bad.Err = fmt.Errorf("%w, and there are whole records behind it, from byte %d of %s on", s.bad.Err, whole, filepath.Base(b.file))
				return nil, s.bad
			}
			if !b.torn(at) {
				return nil, s.bad
			}
			return tombs, nil
		}
		if s.bad != nil { // the bad place is in an earlier block
			s.bad.Err = fmt.Errorf("%w, and there are whole records in %s, which is a later file", s.bad.Err, filepath.Base(b.file))
			return nil, s.bad
		}
		s.last = max(s.last, r.seq)
		switch {
		case !s.listed:
		case r.tomb:
			tombs = append(tombs, r.seq)
		case !r.erased && r.seq > 0:
			s.add(r)
		}
		at += r.size
	}
	return tombs, nil
}

// add adds a message. Mostly its subject equals the subject of the message before; then both share one
// string.
func (s *stream) add(r record) {
	m := message{seq: r.seq}
	if n := len(s.there); n > 0 {
		if m.seq <= s.there[n-1].seq {
			return // the server takes the message for removed
		}
		m.subject = s.there[n-1].subject
	}
	if m.subject != string(r.subject) {
		m.subject = string(r.subject)
	}
	s.there = append(s.there, m)
}

// record returns the record at that place.
func (b *block) record(at int) (record, error) {
	rest := b.text[at:]
	if len(rest) < leastSize {
		return record{}, errCut
	}
	length, subject := binary.LittleEndian.Uint32(rest), int(binary.LittleEndian.Uint16(rest[20:]))
	size, fixed := int(length&^hasHeaders), subject
	if length&hasHeaders != 0 {
		fixed += 4
	}
	switch {
	case zeros(rest[:leastSize]):
		return record{}, errors.New("there are only zeros")
	case size < leastSize || size > mostSize || fixed > size-leastSize:
		return record{}, errors.New("a record has a length that none can have")
	case size > len(rest):
		return record{}, errCut
	}
	text := rest[headSize : size-sumSize]
	b.hash.Reset()
	_, _ = b.hash.Write(rest[4:20]) // Write never fails
	_, _ = b.hash.Write(text[:subject])
	_, _ = b.hash.Write(text[fixed:])
	b.hashed += size
	var sum [sumSize]byte
	if !bytes.Equal(b.hash.Sum(sum[:0]), rest[size-sumSize:size]) {
		return record{}, errors.New("a record does not have its checksum")
	}
	if length&hasHeaders != 0 && !headersEnd(text[fixed:], binary.LittleEndian.Uint32(text[subject:])) {
		return record{}, errors.New("the headers of a message do not end where they should")
	}
	seq := binary.LittleEndian.Uint64(rest[4:])
	if length&hasHeaders == 0 && seq&(isTomb|isErased) == 0 && len(b.plain) > 0 && subject != len(b.plain) && bytes.HasPrefix(text, b.plain) {
		return record{}, errors.New("the subject of a message does not end where it should")
	}
	return record{
		size: size, seq: seq &^ (isTomb | isErased), tomb: seq&isTomb != 0, erased: seq&isErased != 0, subject: text[:subject],
	}, nil
}

// plainSubject returns the subject of messages without headers in the stream with that name.
func plainSubject(stream string) []byte {
	queue, ok := strings.CutPrefix(stream, "weir_q_")
	if !ok {
		return nil
	}
	return []byte("weir.q." + queue + ".any")
}

// headersEnd reports whether the headers at the beginning of the text can have that length, which no checksum
// covers.
func headersEnd(text []byte, length uint32) bool {
	if uint64(length) > uint64(len(text)) {
		return false
	}
	end := bytes.Index(text, []byte("\r\n\r\n"))
	if end < 0 || !bytes.HasPrefix(text, []byte("NATS/1.0")) {
		return true // another program may have put anything there
	}
	return int(length) == end+4
}

// wholeBehind returns the place of the first whole record after a bad place, or 0 if there is none.
func (b *block) wholeBehind(bad int) (int, error) {
	b.hashed = 0
	for at := bad + 1; at+leastSize <= len(b.text); at++ {
		if !b.likely(at) {
			continue
		}
		if _, err := b.record(at); err == nil {
			return at, nil
		}
		if b.hashed > mostHashed*(len(b.text)+1<<20) {
			return 0, errors.New("it is not certain that there is nothing behind it")
		}
	}
	return 0, nil
}

// sector is the least that a disk writes at once.
const sector = 512

// torn reports whether the bad place looks as if the machine lost its power before it had written everything:
// the file ends too early, or what was not written is zeros.
func (b *block) torn(at int) bool {
	rest := b.text[at:]
	if len(rest) < leastSize {
		return true
	}
	switch length := int(binary.LittleEndian.Uint32(rest) &^ hasHeaders); {
	case length > len(rest):
		return !b.wholeUpTo(at, uint32(len(rest)))
	case length >= leastSize:
		rest = rest[:length]
	}
	for from := 0; from < len(rest); {
		to := min(from+sector-(at+from)%sector, len(rest))
		if zeros(rest[from:to]) {
			return true
		}
		from = to
	}
	return zeros(rest[len(rest)-sumSize:])
}

// wholeUpTo reports whether the record at that place would be whole if its damaged length were the given one.
func (b *block) wholeUpTo(at int, length uint32) bool {
	text := slices.Clone(b.text[at:])
	other := *b
	other.text = text
	for _, flag := range []uint32{0, hasHeaders} {
		binary.LittleEndian.PutUint32(text, length|flag)
		if _, err := other.record(0); err == nil {
			return true
		}
	}
	return false
}

// likely reports whether there can be a record at that place, which costs less to find out than its checksum.
// It accepts times from 2001 to 2128. In records that have no message the server writes no time.
func (b *block) likely(at int) bool {
	rest := b.text[at:]
	size := binary.LittleEndian.Uint32(rest) &^ hasHeaders
	seq, ns := binary.LittleEndian.Uint64(rest[4:]), binary.LittleEndian.Uint64(rest[12:])
	if size < leastSize || size > uint32(len(rest)) || seq&^(isTomb|isErased) >= 1<<56 {
		return false
	}
	return 1e18 <= ns && ns < 5e18 || seq&(isTomb|isErased) != 0 && int64(ns) <= 0
}
