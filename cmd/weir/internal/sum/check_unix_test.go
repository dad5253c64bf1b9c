//go:build unix

package sum_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/64ed045f/weir/cmd/weir/internal/sum"
	"github.com/64ed045f/weir/internal/check"
)

// The progress bar takes no line from a list that comes once, as that of a shell's <(…).
func TestAListFromAPipeIsReadOnce(t *testing.T) {
	r, w, err := os.Pipe()
	check.Must(t, err)
	defer r.Close()
	line := md5s["x"] + "  f\n"
	if _, err := io.WriteString(w, line); err != nil {
		t.Fatal(err)
	}
	check.Must(t, w.Close())
	list, err := os.Open(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	check.Must(t, err)
	defer list.Close()
	if n := sum.Countable(list); n != 0 {
		t.Errorf("%d items are counted", n)
	}
	if text, err := io.ReadAll(list); string(text) != line || err != nil {
		t.Errorf("%q is left, %v", text, err)
	}
}
