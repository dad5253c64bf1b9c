//go:build (amd64 || arm64) && !race

package weir_test

import (
	"reflect"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

// The runtime gives larger objects with pointers a header. The code for that would run for little else in a
// program whose groups are small: after a pause, it would have to come from memory. Nor would a batch begin on a
// cache line then. So the words that callers of Go write for each task stand in no two lines, which the processor
// fetches together, with those that workers read or write for each. Under the race detector a batch has more fields.
func TestABatchHasNoHeaderAndKeepsWordsOfDifferentCoresApart(t *testing.T) {
	load, ok := reflect.PointerTo(field(t, reflect.TypeFor[weir.Group](), "batch").Type).MethodByName("Load")
	check.Equal(t, "the group has an atomic pointer to a batch", ok, true)
	batch := load.Type.Out(0).Elem()
	check.Equal(t, "size", batch.Size(), 512)
	const lines = 128
	intake, scope := field(t, batch, "intake"), field(t, batch, "scope")
	written := intake.Offset / lines
	check.Equal(t, "the last line", (intake.Offset+intake.Type.Size()-1)/lines, written)
	for what, at := range map[string]uintptr{
		"group":  field(t, batch, "group").Offset,
		"ctx":    field(t, batch, "ctx").Offset,
		"ending": scope.Offset + field(t, scope.Type, "ending").Offset,
		"lasts":  scope.Offset + field(t, scope.Type, "lasts").Offset,
		"tally":  field(t, batch, "tally").Offset,
	} {
		if at/lines == written {
			t.Errorf("%s is at %d, and the count of tasks that begin at %d", what, at, intake.Offset)
		}
	}
}

func field(t *testing.T, of reflect.Type, name string) reflect.StructField {
	t.Helper()
	f, ok := of.FieldByName(name)
	if !ok {
		t.Fatalf("%v has no field %s", of, name)
	}
	return f
}
