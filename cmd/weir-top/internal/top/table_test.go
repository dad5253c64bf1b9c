package top_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/64ed045f/weir/cmd/weir-top/internal/top"
	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirdebug"
)

func TestTheTableIsPlainText(t *testing.T) {
	golden(t, "table", top.Table("http://host/debug/weir/", "", &program().snapshot))
}

func TestTheTableHasNoHostileText(t *testing.T) {
	s := program().snapshot
	for i := range s.Pools {
		s.Pools[i].Name = hostile
		for j := range s.Pools[i].Lints {
			s.Pools[i].Lints[j].Text = hostile
		}
	}
	for i := range s.Queues {
		s.Queues[i].Name, s.Queues[i].Error = hostile, hostile
	}
	for line := range strings.Lines(top.Table(hostile, hostile, &s)) {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("a character that must be escaped is in %q", line)
		}
	}
}

func TestTheTableShowsAnyThroughput(t *testing.T) {
	var s weirdebug.Snapshot
	text := `{"time":"2026-01-01T00:00:00Z","pools":[{"id":1,"name":"fast","throughput":[0` + strings.Repeat(",1e308", 20) + `]}]}`
	check.Must(t, json.Unmarshal([]byte(text), &s))
	if table := top.Table("http://host/", "", &s); !strings.Contains(table, "fast") || !strings.Contains(table, "███") {
		t.Errorf("the table is\n%s", table)
	}
}

func TestJSONStaysTheSameValueWithoutCharactersThatHarm(t *testing.T) {
	want := map[string]any{"name": "\x1b[2J\n\u009b\u202e日\U000e0041\x7f", "new field": []any{1.5, nil}}
	data, err := json.MarshalIndent(want, "", "\t")
	check.Must(t, err)
	line := string(top.JSON(data))
	if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) || !strings.HasSuffix(line, "\n") {
		t.Errorf("a character that must be escaped is in %q", line)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil || got["name"] != want["name"] || len(got) != 2 {
		t.Errorf("%v: %q", err, got)
	}
}

func TestTheTableSaysHowManyQueuesDoNotAnswer(t *testing.T) {
	for want, queues := range map[string][]weirdebug.Queue{
		"1 queue, 7 waiting, 0 leased, 0 dead\n":               {{Name: "a", Waiting: 7}},
		"2 queues, 0 waiting, 0 leased, 0 dead, 5 for later\n": {{Name: "a", Later: 2}, {Name: "b", Later: 3}},
		"1 queue; ! a: down\n":                                 {{Name: "a", Waiting: 7, Error: "down"}},
		"3 queues, 1 waiting, 2 leased, 3 dead, oldest 5s; ! 2 do not answer, such as a: down\n": {
			{Name: "a", Error: "down"}, {Name: "b", Error: "up"}, {Name: "c", Waiting: 1, Leased: 2, Dead: 3, Oldest: 5},
		},
	} {
		if table := top.Table("http://host/", "", &weirdebug.Snapshot{Queues: queues}); !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
}
