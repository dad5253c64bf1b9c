// Package sum digests files in parallel and prints the digests in order, in the format of md5sum and its siblings.
//
// Three stages run at once:
//
//	source (one goroutine) → digesters (the workers of a weir.Group) → printer (the caller)
//
// The source is a walk over the paths or the lines of a checksum list. It yields [item]s in the order of the output.
// Each item becomes a job, which goes into the window and, if it names a file, to the group. The window is a channel
// of jobs in order. The printer takes the oldest job and waits for its digest, so the output is in order
// whichever file is done first. A full window stops the source: behind one huge file the other digesters may run ahead
// by as many files as the window holds, and no more.
//
// Memory does not depend on the number or the size of the files. It holds the window, one read buffer a digester, and in a walk
// the names of the directories on the way from the path to the current file, which must be there to be sorted.
package sum
