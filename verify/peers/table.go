package peers

import "testing"

// Peer is a library whose public tests are answered here.
type Peer struct {
	Name   string // as in the page and in the names of subtests
	Module string // its path
	Folder string // of the module, whose tests count, with those of the folders below; "" is all of it
	Cases  []Case
	Apart  []Apart
}

// Case is one behaviour that tests of a peer pin.
type Case struct {
	// Theirs are the peer's tests which pin the behaviour, as they stand in testdata:
	// the package, the test, and the path of the subtest.
	Theirs []string
	// Behaviour says in one sentence of ours what is promised: by both, or, if Different
	// is set, by the peer.
	Behaviour string
	// Different says in one sentence what Weir does instead, and why. It is empty if Weir
	// behaves in the same way.
	Different string
	// Ours are the library's tests and examples that show what Weir does, such as
	// par.TestLoopsDoWhatALoopDoes/Each. A case has these, or Name and Run, or all of them.
	Ours []string

	// Name is that of the subtest: words without spaces, in capitals as in the name of a test.
	Name string
	// Run shows what Weir does, as far as Ours do not. It is called in a synctest bubble, so it may
	// sleep, and must leave no goroutine behind.
	Run func(t *testing.T)
}

// Apart are tests of a peer that pin nothing of their own that a user could rely on.
type Apart struct {
	Theirs []string
	Reason string // the end of the sentence "they need no case, since …"
}
