// Package check looks for damage in the files of a server before the server starts on them: the server drops
// what it cannot read.
//
// The server appends to its files. When a machine loses its power, the end of the last file remains
// unwritten: the file ends too early, or there are zeros. The server cuts such an end off, which is correct.
// Everything else is damage. So is such an end if whole records follow it, because the server would cut them
// off too.
package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/64ed045f/weir/weirnats/internal/folder"
)

// DamagedError says which file of a server is damaged.
type DamagedError struct {
	// File is the path of the file.
	File string
	// Offset is where in the file the unreadable part begins, in bytes.
	Offset int64
	// Err says what is wrong there.
	Err error
}

// Error names the file.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("file %s is damaged at byte %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *DamagedError) Unwrap() error { return e.Err }

// Mend is what must be done to a file that was not finished when the server was killed, or the machine lost
// its power. It must be done before the server starts on the file. No message is lost by it.
type Mend struct {
	// File is the path of the file.
	File string
	// What says what is wrong with the file, and what Do does about it.
	What string
	// Do mends the file. It may be called once.
	Do func() error
}

// The names that the server gives its files.
const (
	metaName  = server.JetStreamMetaFile
	sumName   = server.JetStreamMetaFileSum
	keyName   = server.JetStreamMetaFileKey
	stateName = "o.dat"
)

// Store checks the files of a server that has its store in the folder dir. It reads every message there, and
// changes nothing. The error is a [*DamagedError] if a file is damaged. Any other error means that a file or
// a folder cannot be read.
func Store(dir string) ([]Mend, error) {
	streams, err := filepath.Glob(filepath.Join(escape(dir), "jetstream", "*", "streams", "*"))
	if err != nil {
		return nil, err
	}
	c := new(checker)
	for _, path := range streams {
		if strings.HasPrefix(filepath.Base(path), ".") { // the server removes such a folder
			continue
		}
		if err := c.stream(path); err != nil {
			return nil, err
		}
	}
	return c.mends, nil
}

// timesNames are the files in which the server lists when messages are due, or expire. If they are missing,
// the server makes them again from the messages. They have no checksum, and an error in one could hold a
// message back forever.
var timesNames = []string{"sched.db", "thw.db"}

// DropTimes removes the files of timesNames.
func DropTimes(dir string) error {
	for _, name := range timesNames {
		all, err := filepath.Glob(filepath.Join(escape(dir), "jetstream", "*", "streams", "*", "msgs", name))
		if err != nil {
			return err
		}
		for _, file := range all {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// escape returns the pattern that matches only the path.
func escape(path string) string {
	if filepath.Separator == '\\' { // on Windows patterns have no escapes, and paths no stars
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// checker collects what must be mended.
type checker struct {
	mends []Mend
	buf   []byte // the buffer for blocks
}

func (c *checker) stream(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return err
	}
	name := filepath.Base(path)
	var about server.FileStreamInfo
	if err := c.meta(path, name, func(text []byte) (string, error) {
		err := json.Unmarshal(text, &about)
		return about.Name, err
	}); err != nil {
		return err
	}
	if about.Compression != server.NoCompression { // the streams of a queue are not compressed; others are not checked
		return nil
	}
	consumers, err := c.consumers(path, name)
	if err != nil {
		return err
	}
	s := &stream{name: name, listed: about.Retention == server.WorkQueuePolicy && len(consumers) > 0}
	if err := c.blocks(path, s); err != nil {
		return err
	}
	for _, of := range consumers {
		if err := c.state(of, s); err != nil {
			return err
		}
	}
	return nil
}

// meta checks the file that describes a stream or a consumer, in the folder path. The key of its checksum is
// made of id; decode returns the name that is in the file. A missing file is not damage: the program that
// opens the queue makes it again, and the messages are in other files.
func (c *checker) meta(path, id string, decode func(text []byte) (name string, err error)) error {
	file, sumFile := filepath.Join(path, metaName), filepath.Join(path, sumName)
	if _, err := os.Stat(filepath.Join(path, keyName)); err == nil {
		return &DamagedError{File: filepath.Join(path, keyName), Err: errors.New("the files here are encrypted, and there is no key for them")}
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(text) == 0 {
		// The file came to the disk without its content. The server would leave it as it is, and skip the
		// stream.
		c.mends = append(c.mends, Mend{file, "it is empty; it is removed, and made again when its queue is opened", func() error { return os.Remove(file) }})
		return nil
	}
	have, err := os.ReadFile(sumFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	want, err := sumOf(text, id)
	if err != nil {
		return err
	}
	again := func(what string) {
		c.mends = append(c.mends, Mend{sumFile, what + ", and made again", func() error { return folder.Write(sumFile, []byte(want)) }})
	}
	switch string(have) {
	case want:
	case "": // the server was killed after it wrote the file and before it wrote the checksum
		again("it is missing")
	default:
		before, err := sumOf(otherSubjects(text), id)
		if err != nil {
			return err
		}
		if string(have) == before { // as above, when the first message with a key was put
			again("it is that of the file before")
			break
		}
		if _, err := hex.DecodeString(string(have)); err != nil || len(have) != len(want) {
			return &DamagedError{File: sumFile, Err: errors.New("it is not a checksum")}
		}
		return &DamagedError{File: file, Err: fmt.Errorf("it does not have the checksum that is in %s", sumName)}
	}
	name, err := decode(text)
	if err == nil && name != filepath.Base(path) {
		err = fmt.Errorf("the name in it is %q", name)
	}
	if err != nil {
		return &DamagedError{File: file, Err: err}
	}
	return nil
}

// sumOf returns the checksum of a file that describes a stream or consumer.
func sumOf(text []byte, id string) (string, error) {
	key := sha256.Sum256([]byte(id))
	sum, err := highwayhash.NewDigest64(key[:])
	if err != nil {
		return "", err
	}
	_, _ = sum.Write(text) // Write never fails
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// subjects matches the subjects of the messages of a queue. They change once: see allSubjects of package
// jets.
var subjects = regexp.MustCompile(`"subjects":\["weir\.q\.[^".]+\.(any|\*)"\]`)

// otherSubjects returns the text with the subjects from before that change, or from after it: whichever text
// does not have.
func otherSubjects(text []byte) []byte {
	at := subjects.FindSubmatchIndex(text)
	if at == nil {
		return text
	}
	other := "*"
	if string(text[at[2]:at[3]]) == other {
		other = "any"
	}
	return slices.Concat(text[:at[2]], []byte(other), text[at[3]:])
}

// zeros reports whether text contains only zeros.
func zeros(text []byte) bool { return len(bytes.TrimLeft(text, "\x00")) == 0 }
