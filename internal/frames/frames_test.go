package frames_test

import (
	"fmt"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/internal/frames"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

// Made, Waits and Lines name the first function that is not of a package of this module.
func TestFunctionsOfTheLibraryAreNotTheProgramsOwn(t *testing.T) {
	for function, library := range map[string]bool{
		frames.Module + ".(*Pool).Submit":                      true,
		frames.Module + "/par.Each[...]":                       true,
		frames.Module + "/internal/engine.(*Engine).session":   true,
		frames.Module + "/weirnats.(*Queue[...]).Put":          true,
		frames.Module + "/weirnats/internal/jets.(*Conn).call": true,
		frames.Module + "/examples/httpserver.serve":           false,
		frames.Module + "/weirnats/cmd/weirq.put":              false,
		frames.Module + "/weirnats/examples/mailer.send":       false,
		frames.Module + "_test.TestFunctions":                  false,
		frames.Module + "/par_test.TestEach":                   false,
		"example.com/weir/par.Each":                            false,
		"main.main":                                            false,
	} {
		check.Equal(t, function, frames.IsLibrary(function, "/elsewhere/file.go"), library)
	}
}

// With -trimpath, and below a folder src, packages of a module whose path has no dot lie as those of the standard library do.
func TestAModuleWithoutADotIsNotTheStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		function, file string
		standard       bool
	}{
		{"net/http.Get", "/usr/local/go/src/net/http/client.go", true},
		{"net/http.(*Client).Do", "net/http/client.go", true},
		{"sync.runtime_Semacquire", "runtime/sema.go", true},
		{"main.main", "myapp/main.go", false},
		{"myapp.Run", "myapp/run.go", false},
		{"myapp/mail.Send", "myapp/mail/mail.go", false},
		{"myapp/mail.(*Box).Send.func1", "/home/me/src/myapp/mail/mail.go", false},
		{"myapplication.Run", "myapplication/run.go", true}, // another module
		{"example.com/mail.Send", "example.com/mail/mail.go", false},
	} {
		check.Equal(t, fmt.Sprint(c.function, " in ", c.file), frames.IsStandard(c.function, c.file, []string{"myapp"}), c.standard)
	}
}
