package md5all

import (
	"crypto/md5"
	"sync/atomic"
	"time"
)

// FailFirst lets the first file fail, and the others take a millisecond each. It
// returns what counts the files tried.
func FailFirst(failure error) (tried func() int64, restore func()) {
	var n atomic.Int64
	digest = func(path string) ([md5.Size]byte, error) {
		if n.Add(1) == 1 {
			return [md5.Size]byte{}, failure
		}
		time.Sleep(time.Millisecond)
		return digestFile(path)
	}
	return n.Load, func() { digest = digestFile }
}

// CallAt calls f before the file of that number, counted from 1, is read. It
// returns what counts the files tried.
func CallAt(number int64, f func()) (tried func() int64, restore func()) {
	var n atomic.Int64
	digest = func(path string) ([md5.Size]byte, error) {
		if n.Add(1) == number {
			f()
		}
		return digestFile(path)
	}
	return n.Load, func() { digest = digestFile }
}
