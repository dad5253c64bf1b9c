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

// SlowDigest lets each file take d. It returns what counts the files tried.
func SlowDigest(d time.Duration) (tried func() int64, restore func()) {
	var n atomic.Int64
	digest = func(path string) ([md5.Size]byte, error) {
		n.Add(1)
		time.Sleep(d)
		return digestFile(path)
	}
	return n.Load, func() { digest = digestFile }
}
