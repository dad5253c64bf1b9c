// Package leaks checks that the library keeps nothing that the program needs no more: what tasks, arguments
// and results refer to, memory that grows with the number of tasks, goroutines that can never go on.
//
// A pool stays, with its workers parked and its rings as they were, while its tasks come and go. So
// each slot, place in a line, and variable of a worker must let go of what it held.
//
//	go test ./leaks
//	GOEXPERIMENT=goroutineleakprofile go test ./leaks    also goroutines that can never go on
package leaks
