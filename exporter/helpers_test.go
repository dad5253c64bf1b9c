package exporter_test

import (
	"context"
	"strings"
	"testing"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/exporter"
	"github.com/64ed045f/weir/internal/check"
)

func TestMain(m *testing.M) { check.Main(m, nil, nil) }

func nothing() {}

// named chooses the pools of one test: those whose names begin with prefix.
func named(prefix string) exporter.Option {
	return exporter.Only(func(p weir.PoolInfo) bool { return strings.HasPrefix(p.Name, prefix) })
}

// run gives the pool n tasks, and waits for them.
func run(t testing.TB, p *weir.Pool, n int) {
	t.Helper()
	for range n {
		check.OK(t, p.Submit(nothing))
	}
	p.Wait()
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// one returns the totals of the only name.
func one(t testing.TB, p *exporter.Pools) exporter.Totals {
	t.Helper()
	list := p.Look()
	if len(list) != 1 {
		t.Fatalf("there are %d names", len(list))
	}
	return list[0]
}
