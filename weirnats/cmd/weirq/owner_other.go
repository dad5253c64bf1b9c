//go:build !unix

package main

// checkOwner has no owner to compare with.
func checkOwner(string) error { return nil }
