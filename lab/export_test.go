package main

// What the tests look at inside.
var (
	Lab        = lab
	WithTables = withTables
	Published  = published
	Covered    = covered
)
