package check

import "runtime"

// Memory is the number of objects on the heap, and their bytes.
type Memory struct{ Objects, Bytes int64 }

// Heap returns what is left on the heap after a collection.
func Heap() Memory {
	runtime.GC()
	runtime.GC() // frees what the first collection has released, such as the contents of a sync.Pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Memory{int64(m.HeapObjects), int64(m.HeapAlloc)}
}
