// Package client asks the handler of package weirdebug for its JSON.
//
// What the server answers is bounded in time and size, and its texts are not to be trusted: they may hold anything that a string may. Errors
// name neither the password nor the headers of the request.
package client
