// Package md5all is the survey's task in every library: the MD5 sum of each
// regular file below a folder. One goroutine walks the tree, several read and
// digest files, and the first error ends it all.
//
// One file holds one library. Each program is as short as its user would write it
// if it is to be right: what the library does not do, the program does. How many
// lines it takes is part of what it shows.
package md5all

import (
	"context"
	"crypto/md5"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Program is one way to do it.
type Program struct {
	Name string // the library, then a dot and the form where there are several

	// Run returns the sums of the regular files below root, by path, digesting at
	// most digesters of them at once. With an error there are no sums. When ctx is
	// done it returns the cause soon. No goroutine stays.
	Run func(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error)
}

// Programs returns all of them, in the order of the tables.
func Programs() []Program {
	return slices.Concat(weirPrograms(), plainPrograms(), errgroupPrograms(), concPrograms(), antsPrograms(),
		pondPrograms(), workerpoolPrograms(), gopoolPrograms())
}

// walk calls found with the path of each regular file below root, until ctx is
// done; then it returns the cause.
func walk(ctx context.Context, root string, found func(path string)) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case entry.Type().IsRegular():
			found(path)
		}
		return nil
	})
}

// digest is digestFile; tests slow it down, and let it fail.
var digest = digestFile

// digestFile returns the MD5 sum of a file.
func digestFile(path string) (sum [md5.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	hash := md5.New()
	if _, err := io.Copy(hash, file); err != nil {
		return sum, err
	}
	return [md5.Size]byte(hash.Sum(nil)), nil
}
