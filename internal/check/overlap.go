package check

import (
	"flag"
	"runtime"
	"strconv"
)

// Overlap lets a test binary run four times as many parallel tests at once, unless its command line says how many: it is for tests
// that mostly wait, for processes, disks and leases. It parses the command line.
func Overlap() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) // it is a number
	}
}
