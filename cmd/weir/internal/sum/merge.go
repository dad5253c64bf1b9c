package sum

import (
	"container/heap"
	"iter"
)

// walk yields the regular files at or below the paths in the bytewise order of their full paths, which is the order of
//
//	find PATH... -type f -print0 | LC_ALL=C sort -z
//
// A file that two paths lead to comes twice.
//
// Every path in a tree begins with the path of the tree. So walk need not open a tree whose path is greater
// than the next items of the other trees. Of many paths, only those that overlap are open at the same time.
func walk(paths []string) iter.Seq[item] {
	return func(yield func(item) bool) {
		trees := make(forest, len(paths))
		for i, path := range paths {
			trees[i] = &branch{tree: tree{root: path}, head: item{path: path}}
		}
		heap.Init(&trees)
		for len(trees) > 0 {
			least := trees[0]
			if least.known && !yield(least.head) {
				return
			}
			if least.head, least.known = least.tree.next(); least.known {
				heap.Fix(&trees, 0)
			} else {
				heap.Pop(&trees)
			}
		}
	}
}

// A branch is a tree with its least item. Until that item is known, head is a lower bound: the path of the tree.
type branch struct {
	tree  tree
	head  item
	known bool
}

// A forest is a heap of branches with the least path on top.
type forest []*branch

func (f forest) Len() int           { return len(f) }
func (f forest) Less(i, j int) bool { return f[i].head.path < f[j].head.path }
func (f forest) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *forest) Push(b any)        { *f = append(*f, b.(*branch)) }
func (f *forest) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
