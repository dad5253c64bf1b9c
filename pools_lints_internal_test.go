package weir

import (
	"fmt"
	"testing"

	"github.com/64ed045f/weir/internal/check"
)

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
		check.Equal(t, fmt.Sprint(c.function, " in ", c.file), isStandard(c.function, c.file, []string{"myapp"}), c.standard)
	}
}
