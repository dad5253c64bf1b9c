package exporter

import (
	"iter"
	"slices"

	"github.com/64ed045f/weir"
)

// A Histogram is the sum of several [weir.Histogram] values, in the same buckets. Its methods are
// like those of weir.Histogram. The zero Histogram is empty.
type Histogram struct {
	first  int      // number of the bucket that counts[0] counts
	counts []uint64 // one count for each bucket
	sum    float64
}

// Count returns the number of durations.
func (h Histogram) Count() uint64 {
	var n uint64
	for _, count := range h.counts {
		n += count
	}
	return n
}

// Sum returns the sum of all durations in seconds.
func (h Histogram) Sum() float64 { return h.sum }

// Buckets yields the number of each non-empty bucket, in ascending order, and the number of durations in it.
// See [weir.Histogram.Buckets].
func (h Histogram) Buckets() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, count := range h.counts {
			if count > 0 && !yield(h.first+i, count) {
				return
			}
		}
	}
}

// grow adds what a histogram has gained since its highest counts, and raises the highest counts.
func (h *Histogram) grow(highest *Histogram, now weir.Histogram) {
	for bucket, count := range now.Buckets() {
		grow(h.at(bucket), highest.at(bucket), count)
	}
	grow(&h.sum, &highest.sum, now.Sum())
}

// at returns the count of the bucket, after making room for it.
func (h *Histogram) at(bucket int) *uint64 {
	if len(h.counts) == 0 {
		h.first = bucket
	}
	if before := h.first - bucket; before > 0 {
		h.counts = slices.Insert(h.counts, 0, make([]uint64, before)...)
		h.first = bucket
	}
	if after := bucket - h.first + 1 - len(h.counts); after > 0 {
		h.counts = append(h.counts, make([]uint64, after)...)
	}
	return &h.counts[bucket-h.first]
}

func (h Histogram) clone() Histogram {
	h.counts = slices.Clone(h.counts)
	return h
}
