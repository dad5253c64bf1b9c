package weirnats_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync/atomic"

	"github.com/64ed045f/weir"
	"github.com/64ed045f/weir/weirnats"
)

// This one is of docs/scale.md, which a test of the root module compares with this file.
func Example_shards() {
	dir, remove := folder()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	places := []weirnats.Option{weirnats.Dir(dir), weirnats.Dir(dir)} // of each shard: here the same, elsewhere weirnats.Server of a cluster each
	var sent atomic.Int32
	send := func(context.Context, Mail) error {
		if sent.Add(1) == 100 {
			cancel()
		}
		return nil
	}
	run := func() error {
		shards := make([]*weirnats.Queue[Mail], len(places))
		for i, place := range places {
			queue, err := weirnats.Open[Mail](ctx, fmt.Sprintf("mail-%02d", i), place)
			if err != nil {
				return err
			}
			defer queue.Close()
			shards[i] = queue
		}

		put := func(ctx context.Context, id string, m Mail) error {
			h := fnv.New32a()
			h.Write([]byte(id)) // the same ID, the same shard: else it is not known there
			return shards[h.Sum32()%uint32(len(shards))].Put(ctx, m, weirnats.ID(id))
		}

		for i := range 100 {
			check(put(ctx, fmt.Sprint("welcome ", i), Mail{To: "ann@example.org"}))
			check(put(ctx, fmt.Sprint("welcome ", i), Mail{To: "ann@example.org"}))
		}

		pool := weir.New(64) // one for all shards: a place that one of them does not use serves another
		defer pool.Close()
		g := weir.NewGroup(ctx, len(shards))
		for _, shard := range shards {
			g.Go(func(ctx context.Context) error { return shard.Serve(ctx, pool, send) })
		}
		return g.Wait()
	}
	fmt.Println(run(), sent.Load())
	// Output: context canceled 100
}
