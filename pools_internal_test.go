package weir

import (
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

// Made, Waits and Lines name the first function that is not of a package of this module.
func TestFunctionsOfTheLibraryAreNotTheProgramsOwn(t *testing.T) {
	for function, library := range map[string]bool{
		module + ".(*Pool).Submit":                      true,
		module + "/par.Each[...]":                       true,
		module + "/internal/engine.(*Engine).session":   true,
		module + "/weirnats.(*Queue[...]).Put":          true,
		module + "/weirnats/internal/jets.(*Conn).call": true,
		module + "/examples/httpserver.serve":           false,
		module + "/weirnats/cmd/weirq.put":              false,
		module + "/weirnats/examples/mailer.send":       false,
		module + "_test.TestFunctions":                  false,
		module + "/par_test.TestEach":                   false,
		"example.com/weir/par.Each":                     false,
		"main.main":                                     false,
	} {
		check.Equal(t, function, isLibrary(function, "/elsewhere/file.go"), library)
	}
}
