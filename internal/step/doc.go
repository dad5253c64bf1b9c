// Package step runs a small program in all its interleavings, or in all that matter. No product imports it.
//
// A program is a [Scene]. Its goroutines run one at a time; at each step another one may go on. Steps are the
// operations on which goroutines meet: those of sync/atomic, locks, runtime.Gosched, select, close. This
// package has a namesake of each operation, by which the explorer (verify/explore) replaces the real one. A
// channel operation never blocks: its goroutine waits under control until the operation can go through. Time
// is a clock of the execution. So an execution depends on nothing but its schedule: which goroutine goes on
// at which step.
//
// The search is that of CHESS (Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
// multithreaded programs", PLDI 2007). It goes depth first through all schedules with no preemption, then
// with one, two, and so on. A preemption lets another goroutine go on where the running one could. A switch
// costs nothing where the running goroutine cannot go on, or yields. Most mistakes show with two preemptions,
// and the first one found has the fewest. A goroutine that yields lets all others go first: otherwise loops
// that wait would have no end. Executions that come to the same as others are given up; see access.go.
//
// Then random executions follow: PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
// with probabilistic guarantees of finding bugs", ASPLOS 2010) gives goroutines random priorities, and lowers
// the priority of the running goroutine at a few random steps.
//
// A failure is a deadlock (which includes a goroutine left behind), a run without end, a panic, or what the
// scene itself reports. It comes with a schedule that can be replayed.
//
// The package does not see data races, nor anything that lies between two steps. The race detector sees the
// former; [Run.Note] reports a plain variable on which goroutines meet.
package step
