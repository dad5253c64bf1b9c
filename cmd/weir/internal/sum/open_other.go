//go:build !unix

package sum

// Without such flags, a name is opened whatever it has become.
const openAsFile, openAsDirectory = 0, 0
