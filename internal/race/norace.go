//go:build !race

package race

// Enabled says whether the race detector is part of the program.
const Enabled = false

// Past is empty without the race detector. Everything below does nothing, except that it calls the functions
// it is given.
type Past struct{}

// Now returns nil.
func Now() *Past { return nil }

// Release does nothing.
func (*Past) Release() {}

// Acquire does nothing.
func (*Past) Acquire() {}

// Turns is empty.
type Turns struct{}

// Limit does nothing.
func (*Turns) Limit(int) {}

// Queue does nothing.
func (*Turns) Queue(int) {}

// Within does nothing.
func (*Turns) Within(*Turns) {}

// Begin does nothing.
func (*Turns) Begin() {}

// End does nothing.
func (*Turns) End() {}

// Order does nothing.
func (*Turns) Order() {}

// Orders returns nil.
func (*Turns) Orders() *Past { return nil }

// Resume does nothing.
func (*Turns) Resume() {}

// Map is empty.
type Map struct{}

// Store does nothing.
func (*Map) Store(_, _ any) {}

// Delete does nothing.
func (*Map) Delete(any) {}

// LoadAndDelete finds nothing.
func (*Map) LoadAndDelete(any) (value any, loaded bool) { return nil, false }

// Tag is empty.
type Tag struct{}

// Here returns a tag.
func Here() Tag { return Tag{} }

// Admitted does nothing.
func (Tag) Admitted(...*Turns) {}

// Start returns a start.
func (Tag) Start(...*Turns) Start { return Start{} }

// Start is empty.
type Start struct {
	Pasts [2]*Past
	Turns [2]*Turns
}

// Run calls f.
func Run[R any](_ Start, _ *Past, f func() R) R { return f() }

// Unseen calls f.
func Unseen(f func()) { f() }

// Apart calls f.
func Apart[R any](f func() R) R { return f() }
