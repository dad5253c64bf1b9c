// Package sum digests files in parallel and prints the digests in order, in the format of md5sum and its siblings.
//
// Three stages run at once:
//
//	source (one goroutine) → digesters (the workers of a weir.Group) → printer (the caller)
//
// The source is a walk over the paths, or the lines of a checksum list. It yields [item]s in the order of the
// output. Each item becomes a job. The job goes into the window, a channel of jobs in order, and to the group
// if it names a file. The printer takes the oldest job and waits for its digest, so the order of the output
// does not depend on which file is done first. A full window stops the source: while one huge file is read,
// the other digesters may run ahead by as many files as the window holds.
//
// Memory does not depend on the number or the size of the files. It holds the window, and one read buffer for
// each digester. A walk also holds the names in the directories on the way from the path to the current file,
// because they must be sorted.
package sum
