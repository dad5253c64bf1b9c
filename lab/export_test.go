package main

// What the tests look at inside.
var (
	Lab       = lab
	Stale     = stale
	Published = published
	Covered   = covered
)
