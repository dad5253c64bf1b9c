package keys_test

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/keys"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

func TestAMapIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m keys.Map[int, int]
	want := map[int]int{}
	for range 100 {
		for range r.IntN(1000) {
			key := r.IntN(5000)
			m.Set(key, key+1)
			want[key] = key + 1
		}
		fewer := r.IntN(5000)
		for key := range m.All() {
			if key >= fewer {
				m.Delete(key)
				delete(want, key)
			}
		}
		m.Delete(5000)
		check.Equal(t, "entries", m.Len(), len(want))
		check.Equal(t, "all are there", maps.Equal(maps.Collect(m.All()), want), true)
		check.Equal(t, "a key's", m.Get(17), want[17])
	}
}

func TestAMapGivesItsMemoryBack(t *testing.T) {
	const n = 100_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var m keys.Map[int, int]
	before := heap()
	for i := range n {
		m.Set(i, i)
	}
	full := heap()
	for i := range n - 100 {
		m.Delete(i)
	}
	after := heap()
	check.Equal(t, "entries", m.Len(), 100)
	if full < before+8*n || after > before+n {
		t.Errorf("%d bytes when empty, %d with %d keys, %d with 100", before, full, n, after)
	}
	runtime.KeepAlive(&m)
}

func TestALoopOverAMapRemovesAnyOfItsEntries(t *testing.T) {
	for range 20 {
		m, gone := new(keys.Map[int, int]), map[int]bool{}
		for i := range 1024 {
			m.Set(i, i)
		}
		for i := range m.All() {
			if gone[i] {
				t.Fatalf("%d is yielded, and was removed", i)
			}
			for j := range 1000 {
				if k := (i + j) % 1024; k != i {
					m.Delete(k)
					gone[k] = true
				}
			}
		}
	}
}
