package check

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/64ed045f/weir/weirnats/internal/folder"
)

// consumer is a consumer of a stream.
type consumer struct {
	path  string
	about server.FileConsumerInfo
}

// consumers checks the files that describe the consumers of the stream in the folder path. It returns the
// consumers whose deliveries must be known.
func (c *checker) consumers(path, stream string) (all []consumer, err error) {
	entries, err := os.ReadDir(filepath.Join(path, "obs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		of := consumer{path: filepath.Join(path, "obs", e.Name())}
		if !e.IsDir() {
			continue
		}
		if err := c.meta(of.path, stream+"/"+e.Name(), func(text []byte) (string, error) {
			err := json.Unmarshal(text, &of.about)
			return of.about.Name, err
		}); err != nil {
			return nil, err
		}
		if of.about.AckPolicy == server.AckExplicit || of.about.Name == "" {
			all = append(all, of)
		}
	}
	return all, err
}

// state checks what a consumer of a work queue has delivered. The file has no checksum, and an error in it
// can keep messages from ever being delivered.
//
// The file may also be newer than the messages. This happens when it is written, and the machine loses its
// power, or the process is killed, before the removal of a message is written. So state looks for messages
// that are there, and are neither new to the consumer nor with a process. It notes each of them as one that
// has been with a process for too long: then the message is delivered again.
//
// If the file cannot be read, all messages are delivered again.
func (c *checker) state(of consumer, s *stream) error {
	file := filepath.Join(of.path, stateName)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil // the server makes such a file
	}
	if err != nil {
		return err
	}
	d := decodeState(text)
	if d == nil {
		aside := file + ".old"
		c.mends = append(c.mends, Mend{file, "it cannot be read; it is moved to " + filepath.Base(aside) + ", and each message is delivered again", func() error { return os.Rename(file, aside) }})
		return nil
	}
	if !s.listed || of.about.MaxDeliver > 0 { // with MaxDeliver, messages stay that are not delivered any more
		return nil
	}
	if n := d.mend(of, s); n > 0 || d.to > s.last {
		d.cut(s.last)
		c.mends = append(c.mends, Mend{file, fmt.Sprintf("it does not fit the messages; it is written anew, and %d messages are delivered again", n), func() error { return folder.Write(file, d.encode()) }})
	}
	return nil
}

// SetBack moves the times of all deliveries of all consumers in the folder dir into the past by d, because
// the clock was set back by d. Otherwise the server would take a delivery in the future for a message that
// waits for its next try. It leaves out the files in done, and adds each file there that it is through with.
func SetBack(dir string, d time.Duration, done map[string]bool) error {
	files, err := filepath.Glob(filepath.Join(escape(dir), "jetstream", "*", "streams", "*", "obs", "*", stateName))
	if err != nil {
		return err
	}
	for _, file := range files {
		if done[file] {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s := decodeState(text)
		if s == nil || len(s.pending) == 0 {
			done[file] = true
			continue
		}
		for seq, p := range s.pending {
			p.age += int64(d / time.Second)
			s.pending[seq] = p
		}
		if err := folder.Write(file, s.encode()); err != nil {
			return err
		}
		done[file] = true
	}
	return nil
}

// mend notes each message that would not be delivered, and returns how many there are.
func (d *delivered) mend(of consumer, s *stream) (n int) {
	for _, m := range s.there {
		if m.seq > d.to {
			break
		}
		if _, ok := d.pending[m.seq]; ok || s.doubt[m.seq] || !of.wants(m.subject) {
			continue
		}
		n++
		// The age makes the message come at once. A much larger age would do harm: the server adds it to the
		// times of other deliveries.
		d.pending[m.seq] = pending{age: d.ageOf(time.Now().Add(-of.about.AckWait - time.Second))}
	}
	if n == 0 {
		return 0
	}
	d.floor, d.ackedTo = 0, 0 // the server takes messages up to these for done
	// The server moves these two by the numbers, which must grow with the messages.
	for i, seq := range slices.Sorted(maps.Keys(d.pending)) {
		p := d.pending[seq]
		p.number = uint64(i) + 1
		d.pending[seq] = p
	}
	d.times = max(d.times, uint64(len(d.pending)))
	return n
}

// cut makes last the last message that was delivered.
func (d *delivered) cut(last uint64) {
	d.to = min(d.to, last)
	d.ackedTo = min(d.ackedTo, last)
	maps.DeleteFunc(d.pending, func(seq uint64, _ pending) bool { return seq > last })
	maps.DeleteFunc(d.again, func(seq, _ uint64) bool { return seq > last })
}

// wants reports whether messages with that subject are for the consumer.
func (of *consumer) wants(subject string) bool {
	filters := of.about.FilterSubjects
	if of.about.FilterSubject != "" {
		filters = append(filters, of.about.FilterSubject)
	}
	for _, f := range filters {
		if server.SubjectMatchesFilter(subject, f) {
			return true
		}
	}
	return len(filters) == 0
}

// delivered is what a consumer has delivered.
type delivered struct {
	times   uint64             // how many deliveries of new messages there were
	to      uint64             // these were the messages up to this one
	floor   uint64             // how many of the first of these deliveries are done
	ackedTo uint64             // these were the messages up to this one, all done
	base    int64              // the time from which ages are counted back, in seconds since 1970
	pending map[uint64]pending // by message: deliveries that are not done
	again   map[uint64]uint64  // by message: how often it was delivered again
}

// pending is what is known of a delivery.
type pending struct {
	number uint64
	age    int64 // in seconds
}

func (d *delivered) ageOf(t time.Time) int64 { return d.base - t.Unix() }

// The limits of the age of a delivery. The time of a delivery lies ahead for a message that waits for its
// next try.
const (
	mostBefore = 100 * 365 * 24 * time.Hour
	mostAhead  = 10 * 365 * 24 * time.Hour
)

// The first two bytes of the state of a consumer.
const (
	stateMagic   = 22
	stateVersion = 2
)

// decodeState decodes the state of a consumer as this version of the server writes it. It returns nil for
// anything else.
func decodeState(text []byte) *delivered {
	if len(text) < 2 || text[0] != stateMagic || text[1] != stateVersion {
		return nil
	}
	r := &reader{text: text[2:]}
	d := &delivered{base: time.Now().Unix(), pending: make(map[uint64]pending), again: make(map[uint64]uint64)}
	d.floor, d.ackedTo = r.unsigned(), r.unsigned()
	d.times, d.to = r.unsigned(), r.unsigned()
	if r.bad || d.ackedTo > d.to || d.floor > d.times || d.to >= 1<<62 || d.times >= 1<<62 {
		return nil
	}
	if n := r.unsigned(); n > 0 {
		if d.base = r.signed(); d.base < 0 || d.base > time.Now().Add(mostAhead).Unix() {
			return nil
		}
		for ; n > 0 && !r.bad; n-- {
			seq, p := r.unsigned()+d.ackedTo, pending{number: r.unsigned() + d.floor, age: r.signed()}
			_, twice := d.pending[seq]
			if twice || seq == 0 || seq > d.to || p.number > d.times || p.age > int64(mostBefore/time.Second) || p.age < -int64(mostAhead/time.Second) {
				return nil
			}
			d.pending[seq] = p
		}
	}
	for n := r.unsigned(); n > 0 && !r.bad; n-- {
		seq, times := r.unsigned()+d.ackedTo, r.unsigned()
		if seq == 0 || seq > d.to || times == 0 || times > 1<<32 {
			return nil
		}
		d.again[seq] = times
	}
	if r.bad || len(r.text) > 0 {
		return nil
	}
	return d
}

// encode is the inverse of decodeState.
func (d *delivered) encode() []byte {
	text := []byte{stateMagic, stateVersion}
	for _, n := range []uint64{d.floor, d.ackedTo, d.times, d.to, uint64(len(d.pending))} {
		text = binary.AppendUvarint(text, n)
	}
	if len(d.pending) > 0 {
		text = binary.AppendVarint(text, d.base)
	}
	for seq, p := range d.pending {
		text = binary.AppendUvarint(text, seq-d.ackedTo)
		text = binary.AppendUvarint(text, p.number-d.floor)
		text = binary.AppendVarint(text, p.age)
	}
	text = binary.AppendUvarint(text, uint64(len(d.again)))
	for seq, times := range d.again {
		text = binary.AppendUvarint(text, seq-d.ackedTo)
		text = binary.AppendUvarint(text, times)
	}
	return text
}

// reader reads numbers of variable length.
type reader struct {
	text []byte
	bad  bool
}

func (r *reader) unsigned() uint64 { return number(r, binary.Uvarint) }
func (r *reader) signed() int64    { return number(r, binary.Varint) }

func number[N any](r *reader, decode func([]byte) (N, int)) (value N) {
	value, n := decode(r.text)
	if r.bad = r.bad || n <= 0; !r.bad {
		r.text = r.text[n:]
	}
	return value
}
