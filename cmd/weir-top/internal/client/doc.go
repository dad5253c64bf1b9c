// Package client gets JSON from the handler of package weirdebug.
//
// The answers of the server are bounded in time and size. Their texts are not trusted: they may hold anything
// that a string may. Errors contain neither the password nor the headers of the request.
package client
