package md5all

// What the tests look at inside.
var (
	RunWith    = Program.run
	DigestFile = digestFile
)
