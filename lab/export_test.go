package main

// What the tests look at inside.
var (
	Lab        = lab
	Pages      = pages
	WithTables = withTables
	Published  = published
	Covered    = covered
)
