//go:build browser

package browsertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/internal/check"
)

func TestPagesOfALargeProgramAreShort(t *testing.T) {
	const poolCount, groupCount = 1000, 100_000
	v := check.NewValve()
	pools := make([]*weir.Pool, poolCount)
	for i := range pools {
		pools[i] = weir.New(1, weir.Name(fmt.Sprintf("many %d", i)))
		check.OK(t, pools[i].Submit(v.Hold))
	}
	groups := make([]*weir.Group, groupCount)
	ctx := weir.Label(context.Background(), "large")
	for i := range groups {
		groups[i] = weir.NewGroup(ctx, 2)
		groups[i].Go(v.Member)
	}
	late := weir.New(1, weir.Name("late"))
	pools = append(pools, late)
	groups = append(groups, late.Group(weir.Label(context.Background(), "the latest")))
	groups[groupCount].Go(v.Member)
	t.Cleanup(func() {
		v.Open()
		for _, g := range groups {
			check.OK(t, g.Wait())
		}
		for _, p := range pools {
			p.Close()
		}
	})
	check.Until(t, "all tasks run", func() bool { return v.Running() == poolCount+groupCount+1 })
	b := newTab(t)
	id := mustSnapshot(t, local+"?find=late").Pools[0].ID
	for query, want := range map[string]string{
		"?find=many":                         "500 pools, 500 more are left out",
		"?groups&longer=0s":                  "1000 groups, 99",
		"?groups&find=latest":                "1 group, each below",
		fmt.Sprintf("?pool=%d", id):          "the latest",
		fmt.Sprintf("?pool=%d&worker=1", id): "check.(*Valve).Hold",
	} {
		began := time.Now()
		b.load(local + query + "&refresh=0")
		took := time.Since(began)
		size := js[int](b, "performance.getEntriesByType('navigation')[0].encodedBodySize")
		first := js[float64](b, "performance.getEntriesByType('navigation')[0].responseStart")
		t.Logf("%-20s %6d bytes, the first of them after %4.0f ms; shown in %v", query, size, first, took.Round(time.Millisecond))
		if text := js[string](b, "document.body.innerText"); !strings.Contains(text, want) {
			t.Errorf("%s does not show %q", query, want)
		}
		if size > 1<<20 {
			t.Errorf("%s has %d bytes", query, size)
		}
	}

	b.load(local + "?find=late")
	b.follow("//th//a[.='late']")
	check.Equal(t, "the group of the latest task", b.followGroup(), "the latest")
	for _, wrong := range b.complained() {
		t.Error(wrong)
	}
}
