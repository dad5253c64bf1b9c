package sum

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"strings"
)

// Algorithm is the command-line name of a digest algorithm. It implements pflag.Value, so that the flag
// parser refuses a wrong name.
type Algorithm string

// algorithms lists the algorithms. A tag is the name in BSD-style lines: MD5 (file) = digest.
var algorithms = []struct {
	name Algorithm
	tag  string
	make func() hash.Hash
	size int
}{
	{"md5", "MD5", md5.New, md5.Size},
	{"sha1", "SHA1", sha1.New, sha1.Size},
	{"sha256", "SHA256", sha256.New, sha256.Size},
	{"sha512", "SHA512", sha512.New, sha512.Size},
}

// Algorithms returns the names that Set accepts, with the default first.
func Algorithms() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a.name)
	}
	return names
}

// Set chooses the algorithm called name.
func (a *Algorithm) Set(name string) error {
	for _, known := range algorithms {
		if string(known.name) == name {
			*a = known.name
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(Algorithms(), ", "))
}

// String returns the name of the algorithm.
func (a Algorithm) String() string { return string(a) }

// Type names the kind of value in the help text.
func (a Algorithm) Type() string { return "algorithm" }

// new returns a fresh hash state.
func (a Algorithm) new() hash.Hash { return algorithms[a.index()].make() }

// size is the length of a digest in bytes.
func (a Algorithm) size() int { return algorithms[a.index()].size }

// tag is the name of the algorithm in BSD-style lines and in messages.
func (a Algorithm) tag() string { return algorithms[a.index()].tag }

func (a Algorithm) index() int {
	for i, known := range algorithms {
		if known.name == a {
			return i
		}
	}
	panic(fmt.Sprintf("sum: the algorithm must be one of %s, got %q", strings.Join(Algorithms(), ", "), string(a)))
}
