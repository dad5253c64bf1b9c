//go:build !unix

package sum

// Where there are no such flags, a name is opened whatever has become of it.
const openAsFile, openAsDirectory = 0, 0
