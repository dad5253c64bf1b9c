package record_test

import (
	"math"
	"testing"

	"github.com/64ed045f/weir/lab/internal/noleak"
	"github.com/64ed045f/weir/lab/internal/record"
)

func TestMain(m *testing.M) { noleak.Main(m) }

func TestCellsDifferByTheUTest(t *testing.T) {
	low, high := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}
	for name, c := range map[string]struct {
		a, b           []float64
		differs, known bool
	}{
		"apart":                     {low, high, true, true},
		"mixed":                     {[]float64{1, 3, 5, 7}, []float64{2, 4, 6, 8}, false, true},
		"overlapping intervals":     {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []float64{5, 6.5, 7.5, 8.5, 9.5, 11, 12, 13, 14, 15}, true, true},
		"three rounds":              {low[:3], high[:3], false, false},
		"three rounds on one side":  {low[:3], high, false, false},
		"one round":                 {low[:1], high[:1], false, false},
		"one round, the same":       {low[:1], low[:1], false, false},
		"two rounds without change": {[]float64{1, 1}, []float64{2, 2}, false, false},
		"exact and the same":        {[]float64{7, 7, 7}, []float64{7, 7, 7}, false, true},
		"exact and another":         {[]float64{7, 7, 7}, []float64{8, 8, 8, 8}, true, true},
		"exact on one side, apart":  {[]float64{0, 0, 0, 0}, high, true, true},
		"exact on one side, few":    {[]float64{0, 0, 0}, high, false, false},
		"all the same, many rounds": {[]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, false, true},
		"no number":                 {[]float64{math.NaN(), 1, 2, 3}, high, false, false},
		"nothing":                   {nil, high, false, false},
	} {
		a, b := record.Summarize(c.a), record.Summarize(c.b)
		if differs, known := a.Differs(b); differs != c.differs || known != c.known {
			t.Errorf("%s: %v, %v", name, differs, known)
		}
		if differs, known := b.Differs(a); differs != c.differs || known != c.known {
			t.Errorf("%s, the other way round: %v, %v", name, differs, known)
		}
	}
	if _, known := (record.Cell{}).Differs(record.Summarize(low)); known {
		t.Error("a cell without a sample was compared")
	}
}

func TestAPeerThatFailsInALaterRoundHasNoFigures(t *testing.T) {
	of := func(peer string) record.ID {
		return record.ID{Suite: "dispatch", Experiment: "empty", Peer: peer, Procs: 2}
	}
	took := func(peer string, ns float64) record.Result {
		return record.Result{ID: of(peer), N: 1, Values: []record.Value{{Unit: "ns/op", Value: ns}}}
	}
	tables := record.Tables([]record.Result{took("fast", 1), took("slow", 9), took("fast", 1), took("slow", 9), record.Failed(of("fast"), "killed"), took("slow", 9)})
	if len(tables) != 1 || len(tables[0].Rows) != 2 {
		t.Fatalf("%+v", tables)
	}
	fast, slow := tables[0].Rows[0], tables[0].Rows[1]
	if len(fast.Cells) != 0 || record.Find(fast.Notes, record.FailedNote) != "killed" {
		t.Errorf("%+v", fast)
	}
	if c := slow.Cells["ns/op"]; c.Rounds != 3 || c.Center != 9 {
		t.Errorf("%+v", slow)
	}
}
