package reuse_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/64ed045f/weir/internal/check"
)

func TestAGetWhoseContextPanicsKeepsNoObject(t *testing.T) {
	for name, ends := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		for left := 1; left <= 4; left++ {
			for used := range 2 { // the context ends before there is an object, or the object is to be opened for it
				check.Bubble(t, fmt.Sprint(name, " at ", left, ", objects in use: ", used), func(t *testing.T) {
					k, f := keeping(t, 1)
					for range used {
						l := got(t, k)
						time.AfterFunc(2*time.Second, l.Put)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					var one sync.WaitGroup
					one.Go(func() {
						check.Caught(func() {
							if l, err := k.Get(&check.BrokenContext{Context: ctx, Left: left, Ends: ends}); err == nil {
								l.Put()
							}
						})
					})
					one.Wait()
					time.Sleep(time.Minute)
					got(t, k).Put()
					synctest.Wait()
					k.Close()
					f.settled(1)
				})
			}
		}
	}
}
