package report

import (
	"cmp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/64ed045f/weir/lab/internal/suite"
)

// A title introduces a suite or an experiment.
type title struct{ title, about string }

func suiteTitle(name string) title {
	for _, s := range suite.All() {
		if s.Name == name {
			return title{s.Title, s.About}
		}
	}
	return title{title: clean(name)}
}

// abouts are the sentences that describe one operation of an experiment.
var abouts = sync.OnceValue(func() map[string]string {
	sentences := map[string]string{}
	for _, e := range suite.Plan(suite.Scale{Full: true, Cores: 2}) {
		sentences[e.ID.Suite+"/"+e.ID.Experiment] = sentence(e.About)
	}
	return sentences
})

// sentence makes a sentence of a phrase from a list.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(s[size:], ".") + "."
}

func experimentTitle(of, name string) title {
	if of == suiteBehaviour {
		return title{title: "Scenarios"}
	}
	return title{cmp.Or(experimentTitles[of+"/"+name], clean(name)), abouts()[of+"/"+name]}
}

var experimentTitles = map[string]string{
	"cost/curve":         "What a task costs",
	"cold/few":           "A few tasks, after a pause",
	"dispatch/empty":     "Empty tasks",
	"dispatch/burst":     "Bursts",
	"dispatch/lone":      "A lone task",
	"dispatch/group":     "Groups",
	"dispatch/forkjoin":  "Fork and join",
	"dispatch/results":   "Results in order",
	"dispatch/nested":    "Recursion",
	"dispatch/loop":      "A parallel loop",
	"dispatch/skewed":    "A skewed loop",
	"dispatch/stream":    "An ordered stream",
	"dispatch/sort":      "Sorting",
	"dispatch/newclose":  "New and Close",
	"dispatch/idlepools": "Idle pools",
	"dispatch/blocked":   "Blocked tasks",
	"dispatch/queued":    "A long queue",
	"seeds/sleep":        "Sleeping tasks",
	"seeds/throughput":   "Throughput",
	"survey/sleep":       "Sleeping tasks",
	"survey/md5":         "MD5 of every file",
	"survey/feature":     "Which library has what",
	"reuse/context":      "A request's context",
	"reuse/buffer":       "A byte buffer",
	"reuse/sizes":        "Buffers of many sizes",
	"reuse/keeper":       "Objects that are costly to open",
	"sharing/empty":      "Empty tasks in a part of a pool",
	"sharing/tenants":    "Tasks behind those of another tenant",
	"sharing/calls":      "Calls that share a value",
	"later/turn":         "A turn of a rate",
	"later/try":          "A call that may be tried again",
	"later/backoff":      "Tasks with back-offs",
	"later/hedge":        "A call that may be made twice",
	"http/overload":      "Five times the capacity",
}
