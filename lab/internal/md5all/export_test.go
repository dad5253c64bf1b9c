package md5all

import (
	"crypto/md5"
	"sync/atomic"
)

// Before calls f before a file is read, with the number of the file, counted from 1. Where f
// returns an error that file cannot be read. Before returns what counts the files tried.
func Before(f func(number int64) error) (tried func() int64, restore func()) {
	var n atomic.Int64
	digest = func(path string) ([md5.Size]byte, error) {
		if err := f(n.Add(1)); err != nil {
			return [md5.Size]byte{}, err
		}
		return digestFile(path)
	}
	return n.Load, func() { digest = digestFile }
}
