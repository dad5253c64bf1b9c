package engine_test

import (
	"fmt"

	"github.com/64ed045f/weir/internal/step"
)

// operation is what one goroutine of a mixed scene does.
type operation struct {
	name string
	do   func(w *world, who string)
}

var operations = []operation{
	{"submit", func(w *world, who string) { w.submit(w.task(who)) }},
	{"submit two", func(w *world, who string) {
		w.submit(w.task(who + ", first"))
		w.submit(w.task(who + ", second"))
	}},
	{"try", func(w *world, who string) { w.try(w.task(who)) }},
	{"give up", func(w *world, who string) {
		enough := make(chan struct{})
		w.Go(who+"'s patience", func() { close(enough) })
		w.submitUntil(w.task(who), enough)
	}},
	{"panic", func(w *world, who string) { w.submit(w.panics(who)) }},
	{"exit", func(w *world, who string) { w.submit(w.exits(who)) }},
	{"family", func(w *world, who string) { w.submit(w.parent(who, w.task(who+"'s child"))) }},
	{"wait", func(w *world, _ string) { w.waits() }},
	{"raise", func(w *world, _ string) { w.resize(w.limited + 1) }},
	{"lower", func(w *world, _ string) { w.resize(1) }},
	{"pause", func(w *world, _ string) {
		w.pause()
		w.resume()
	}},
	{"start", func(w *world, _ string) { w.Start(1) }},
	{"discard", func(w *world, _ string) { w.discards() }},
	{"stats", func(w *world, _ string) { w.Stats() }},
	{"close", func(w *world, _ string) { w.closes() }},
	{"shutdown", func(w *world, _ string) { w.shuts() }},
}

// mixedScenes has each operation meet each other one, in engines that are unused, idle, and full.
func mixedScenes() (scenes []step.Scene) {
	worlds := []struct {
		name         string
		limit, queue int
		before       func(w *world)
	}{
		{"unused", 2, 1, func(*world) {}},
		{"idle", 2, 1, (*world).idle},
		{"busy", 1, 1, func(w *world) {
			release := w.busy()
			w.Go("release", func() { close(release) })
		}},
		{"handing over", 1, 0, func(w *world) { w.Go("another", func() { w.submit(w.task("another")) }) }},
	}
	for i, one := range operations {
		for _, other := range operations[i:] {
			for _, u := range worlds {
				name := fmt.Sprintf("%s meets %s, %s", one.name, other.name, u.name)
				s := in(name, u.limit, u.queue, func(w *world) {
					u.before(w)
					w.Go("one", func() { one.do(w, "one") })
					w.Go("other", func() { other.do(w, "other") })
				})
				s.Quick, s.Deep = 1, 2 // there are many
				scenes = append(scenes, s)
			}
		}
	}
	return scenes
}
