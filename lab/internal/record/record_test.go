package record_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/lab/internal/record"
)

func result(peer string, ns float64, notes ...record.Setting) record.Result {
	return record.Result{
		ID: record.ID{
			Suite: "dispatch", Experiment: "empty", Peer: peer, Procs: 2,
			Params: []record.Setting{{Key: "limit", Value: "64"}, {Key: "producers", Value: "1"}},
		},
		N:      1000,
		Values: []record.Value{{Unit: "ns/op", Value: ns}, {Unit: "peak-B", Value: 1 << 20}},
		Notes:  notes,
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	want := record.File{
		Settings: []record.Setting{{Key: "cpu", Value: "a CPU: of some kind"}, {Key: "lab-go", Value: "go1.26"}},
		Results: []record.Result{
			result("go", 300.5),
			result("ants.func", 415, record.Setting{Key: "verdict", Value: "hangs"}, record.Setting{Key: "detail", Value: "after 3 rounds"}),
			result("weir.Pool", 29, record.Setting{Key: "verdict", Value: "pass"}),
			result("weir.Pool", 1e-9),
			result("conc-like-3", 1, record.Setting{Key: "curve", Value: record.Curve{{0.5, 12}, {1.5, 13}}.String()}),
		},
	}
	var text bytes.Buffer
	check.OK(t, record.Write(&text, want))
	got, err := record.Read(bytes.NewReader(text.Bytes()), "x")
	check.OK(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v\ntext\n%s", got, want, text.String())
	}
	check.Equal(t, "a curve", fmt.Sprint(record.ParseCurve(got.Results[4].Notes[0].Value+" x 1:y NaN:1 1:Inf -1:1")), "0.500:12 1.500:13")
	if line := "BenchmarkDispatch/empty/limit=64/producers=1/peer=ants.func-2 1000 415 ns/op"; !strings.Contains(text.String(), line) {
		t.Errorf("the text has no line %q:\n%s", line, text.String())
	}
}

func TestANoteOfSeveralLinesBecomesOne(t *testing.T) {
	r := result("go", 1, record.Setting{Key: "detail", Value: "two\n lines"}, record.Setting{Key: "verdict", Value: ""})
	var text bytes.Buffer
	check.OK(t, record.Write(&text, record.File{Results: []record.Result{r}}))
	got, err := record.Read(&text, "x")
	check.OK(t, err)
	want := []record.Setting{{Key: "detail", Value: "two lines"}, {Key: "verdict", Value: "-"}}
	if !slices.Equal(got.Results[0].Notes, want) {
		t.Errorf("notes %v, want %v", got.Results[0].Notes, want)
	}
}

func TestAFileThatIsNotTheLabsIsAnError(t *testing.T) {
	for _, text := range []string{
		"",
		"cpu: x\n",
		"BenchmarkOther-2 100 5 ns/op\n",
		"BenchmarkDispatch/empty/limit=64-2 100 5 ns/op\n",
		"BenchmarkDispatch/empty/peer=go 100 5 ns/op\n",
		"BenchmarkDispatch/empty/peer=go-2 many 5 ns/op\n",
		"cpu: x\n\nBenchmarkDispatch/empty/peer=go-2 1 5 ns/op\ncpu: y\n\nBenchmarkDispatch/empty/peer=go-2 1 5 ns/op\n",
	} {
		if f, err := record.Read(strings.NewReader(text), "x"); err == nil {
			t.Errorf("%q was read as %+v", text, f)
		}
	}
}

func TestTablesHoldMediansOfEachPeerInTheOrderOfMeasurement(t *testing.T) {
	var results []record.Result
	for round := range 11 {
		results = append(results, result("weir.Pool", float64(20+round)), result("go", float64(400-round)))
	}
	alone := result("go", 7)
	alone.ID.Procs = 1
	tables := record.Tables(append(results, alone))
	if len(tables) != 2 {
		t.Fatalf("%d tables, want 2", len(tables))
	}
	first := tables[0]
	if first.Suite != "dispatch" || first.Procs != 2 || !slices.Equal(first.Units, []string{"ns/op", "peak-B"}) {
		t.Errorf("table %+v", first)
	}
	// Of 11 values the second to the ninth cover the median with 95 %.
	for i, want := range []record.Row{
		{Peer: "weir.Pool", Cells: map[string]record.Cell{"ns/op": {Center: 25, Low: 21, High: 28, Rounds: 11}}},
		{Peer: "go", Cells: map[string]record.Cell{"ns/op": {Center: 395, Low: 391, High: 398, Rounds: 11}}},
	} {
		row := first.Rows[i]
		got, cell := row.Cells["ns/op"], want.Cells["ns/op"]
		if row.Peer != want.Peer || got.Center != cell.Center || got.Low != cell.Low || got.High != cell.High || got.Rounds != cell.Rounds {
			t.Errorf("row %d is %+v, want %+v", i, row, want)
		}
	}
	if tables[1].Procs != 1 || tables[1].Rows[0].Cells["ns/op"].Center != 7 {
		t.Errorf("second table %+v", tables[1])
	}
}
