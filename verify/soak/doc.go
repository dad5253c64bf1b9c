// Package soak runs the checkers that draw what they do on the real scheduler, one after the other, under each of some
// odd settings, for as long as -soak.for says in all. Each makes rounds from one seed on, with books of its own, and fails
// also if the process holds more and more.
//
//	go test ./soak -v -timeout 0 -soak.for 10m                                    every checker under every setting but race
//	go test ./soak -v -timeout 0 -soak.for 1m -run 'TestSoak/gogc1/(history|worlds)' some of them
//	go test ./soak -v -timeout 0 -soak.for 1m -soak.race -run TestSoak/race       with the race detector
package soak
