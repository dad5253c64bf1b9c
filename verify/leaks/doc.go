// Package leaks checks that the library keeps nothing that the program no longer needs: values that tasks,
// arguments and results refer to, memory that grows with the number of tasks, and goroutines that can never go on.
//
// A pool lives on, with its workers parked and its rings as large as before, while its tasks come and go. So
// each slot, each place in a queue, and each variable of a worker must release what it held.
package leaks
