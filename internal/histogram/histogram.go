// Package histogram counts durations in buckets whose bounds are powers of 2^¼ of a second.
package histogram

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	perOctave = 4
	lowest    = -30 // the octave of a nanosecond, which ends at 2^-29 s
	octaves   = 64  // up to 2^34 s: more than the longest duration
	perGroup  = 8   // octaves; tasks of one kind have times in one or two groups
)

// A Counter counts durations. The zero Counter is empty and small: it allocates memory for an octave with the
// first duration in that octave. Any number of goroutines may use it at once.
type Counter struct {
	groups [octaves / perGroup]atomic.Pointer[group]
}

type group [perGroup]atomic.Pointer[octave]

// at returns what p points to, and makes it if p is nil.
func at[T any](p *atomic.Pointer[T]) *T {
	v := p.Load()
	if v == nil {
		v = new(T)
		if !p.CompareAndSwap(nil, v) {
			v = p.Load()
		}
	}
	return v
}

// An octave is all that Add writes. It has a cache line of its own. With one sum for the whole histogram,
// next to words that other goroutines read, an Add took a microsecond where several cores called it.
type octave struct {
	counts [perOctave]atomic.Uint64
	sum    atomic.Uint64 // in units of 1<<unit ns, so that the waits of a million tasks at once do not overflow it
	_      [64 - 8*(perOctave+1)]byte
}

// unit is the binary logarithm of the unit of an octave's sum, in nanoseconds. The unit is about a millionth
// of the octave's durations, and at least a nanosecond.
func unit(octave int) int { return max(0, octave-20) }

// Bucket returns the number of the bucket of d: bucket i has the durations above 2^((i-1)/4) s, up to 2^(i/4)
// s. A duration below a nanosecond counts as a nanosecond.
func Bucket(d time.Duration) int {
	fraction, exponent := math.Frexp(float64(max(d, 1)) * 1e-9) // in [½, 1) × 2^exponent
	i := perOctave * exponent
	for step := range perOctave {
		if fraction <= bounds[step] {
			return i - perOctave + step
		}
	}
	return i
}

// bounds are ½ × 2^(i/4), for i from 0.
var bounds = [perOctave]float64{0.5, math.Sqrt2 / 2 / root, math.Sqrt2 / 2, math.Sqrt2 / 2 * root}

const root = 1.189207115002721 // 2^¼

// Bound returns the upper bound of bucket i, in seconds.
func Bound(i int) float64 { return math.Exp2(float64(i) / perOctave) }

// Add counts n durations of d.
func (c *Counter) Add(d time.Duration, n uint64) {
	i := Bucket(d) - perOctave*lowest
	k := i / perOctave
	o := at(&at(&c.groups[k/perGroup])[k%perGroup])
	o.counts[i%perOctave].Add(n)
	o.sum.Add(uint64(max(d, 1)) >> unit(k) * n)
}

// Counts returns the number of durations in each bucket, from the first to the last bucket that has any. It
// also returns the number of the first bucket, and the sum of all durations in seconds. Durations that are
// added meanwhile may be missing in the counts or in the sum.
func (c *Counter) Counts() (first int, counts []uint64, sum float64) {
	for i := range octaves {
		g := c.groups[i/perGroup].Load()
		if g == nil || g[i%perGroup].Load() == nil {
			continue
		}
		o := g[i%perGroup].Load()
		sum += math.Ldexp(float64(o.sum.Load()), unit(i)) * 1e-9
		for j := range o.counts {
			n := o.counts[j].Load()
			if n == 0 {
				continue
			}
			bucket := perOctave*i + j
			if len(counts) == 0 {
				first = bucket
			}
			for first+len(counts) < bucket {
				counts = append(counts, 0)
			}
			counts = append(counts, n)
		}
	}
	return first + perOctave*lowest, counts, sum
}
