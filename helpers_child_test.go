package weir_test

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/64ed045f/weir"
)

// children are what the test binary does when it is run by check.Child.
var children = map[string]func(){
	"races":        runRaces,
	"small groups": allocateSmallGroups,
	"crash slowly": crashSlowly,
	"crash in a pool": func() {
		p := weir.New(2, weir.CrashOnPanic())
		_ = p.Submit(explode)
		p.Wait()
	},
	"crash in a group": func() {
		g := weir.New(2, weir.CrashOnPanic()).Group(context.Background())
		g.Go(explodeInGroup)
		_ = g.Wait()
	},
	"crash in a key": func() {
		p := weir.New(2, weir.CrashOnPanic())
		_ = weir.NewKeyed[int](p, 1).Submit(1, explode)
		p.Close()
	},
	"crash in a group of a key": func() {
		g := weir.NewKeyed[int](weir.New(2, weir.CrashOnPanic()), 1).Group(context.Background(), 1)
		g.Go(explodeInGroup)
		_ = g.Wait()
	},
	"crash in a worker's value": func() {
		open := func() (int, error) { return 0, nil }
		p := weir.NewStateful(1, open, func(int, int) {}, func(int) { explode() }, weir.CrashOnPanic())
		_ = p.Invoke(1)
		p.Close()
	},
	"crash in a worker's value after Goexit": func() {
		var p *weir.Stateful[int, int]
		p = weir.NewStateful(1, func() (int, error) { return 0, nil }, func(_, arg int) {
			if arg == 0 {
				_ = p.TryInvoke(1)
				runtime.Goexit()
			}
			fmt.Println("another call has begun")
		}, func(int) { explode() }, weir.CrashOnPanic())
		fmt.Println("told:", p.Call(context.Background(), 0))
	},
	"crash in a value that a lane keeps":                  func() { crashInKeptValue(func(_ *weir.Pool, lane func()) { lane() }) },
	"crash in a value that a lane of a closed pool keeps": func() { crashInKeptValue(func(p *weir.Pool, _ func()) { p.Close() }) },
	"crash in OnOpenError": func() {
		s := weir.NewStateful(1, func() (int, error) { return 0, errBoom }, func(int, int) {}, nil,
			weir.CrashOnPanic(), weir.OnOpenError(func(*weir.OpenError) { explode() }))
		_ = s.Invoke(1)
		s.Close()
	},
	"crash in OnOpenError after Goexit": func() {
		s := weir.NewStateful(1, func() (int, error) { runtime.Goexit(); return 0, nil }, func(int, int) {}, nil,
			weir.CrashOnPanic(), weir.OnOpenError(func(*weir.OpenError) { explode() }))
		_ = s.Invoke(1)
		s.Close()
	},
	"survive": func() {
		p := weir.New(2)
		_ = p.Submit(explode)
		p.Close()
		fmt.Println("survived")
	},
}

// slowPanic keeps the program alive for a while: the runtime asks it for its text
// before it ends the program.
type slowPanic struct{}

func (slowPanic) Error() string {
	for range 1 << 14 {
		runtime.Gosched()
	}
	return "slow boom"
}

// explodeSlowly is explode, and leaves others the time to learn of it.
func explodeSlowly() { panic(slowPanic{}) }

func crashSlowly() {
	p := weir.New(1, weir.CrashOnPanic())
	must(p.Submit(func() { panic(slowPanic{}) }))
	p.Wait()
}

// crashInKeptValue closes a lane whose kept value panics as it is closed, by itself or with its pool.
func crashInKeptValue(ends func(p *weir.Pool, lane func())) {
	p := weir.New(1)
	s := weir.NewStateful(1, func() (int, error) { return 0, nil }, func(int, int) {}, func(int) { explodeSlowly() }, weir.On(p), weir.CrashOnPanic())
	_ = s.Call(context.Background(), 1)
	ends(p, s.Close)
	fmt.Println("told: Close has returned")
	os.Exit(0)
}
