package weirdebug

import (
	"time"

	"github.com/64ed045f/weir"
)

// Snapshot is the content of a page in a form for machines: the answer to a request with format=json.
// Durations are in seconds.
type Snapshot struct {
	Time          time.Time `json:"time"`
	Program       string    `json:"program"`           // name, process and host of the program
	Control       bool      `json:"control"`           // pools may be changed: see [Control]
	Longest       []Task    `json:"longest,omitempty"` // the tasks of the program that have run longest; in the answer for all pools
	Pools         []Pool    `json:"pools,omitempty"`
	PoolsLeftOut  int       `json:"poolsLeftOut,omitempty"`
	Groups        []Group   `json:"groups,omitempty"`
	GroupsLeftOut int       `json:"groupsLeftOut,omitempty"`
	Queues        []Queue   `json:"queues,omitempty"` // queues that outlive the program; in the answer for all pools
	QueuesLeftOut int       `json:"queuesLeftOut,omitempty"`

	LongestLeftOut int `json:"longestLeftOut,omitempty"` // more tasks that have run for a second, or for as long as was asked for

	made   map[parent]*madeGroups // for pages: the groups that were made in tasks
	around []Group                // for the page of a stack: the task's group, the parents of that group, and the groups made in them
}

// Pool is a pool in a [Snapshot].
type Pool struct {
	ID         uint64    `json:"id"`
	Name       string    `json:"name,omitempty"`
	Kind       string    `json:"kind"`
	Made       string    `json:"made"`
	Stats      Stats     `json:"stats"`
	Wait       Durations `json:"wait"`
	Run        Durations `json:"run"`
	Oldest     float64   `json:"oldest"`               // how long the oldest queued task has waited
	Throughput []float64 `json:"throughput,omitempty"` // tasks finished per second, in equal parts of the last minute, the latest last
	Lints      []Lint    `json:"lints,omitempty"`

	// Only in the answer for one pool.
	Running        []Task `json:"running,omitempty"`
	RunningLeftOut int    `json:"runningLeftOut,omitempty"`
}

// Stats are the fields of [weir.Stats].
type Stats struct {
	Limit      int    `json:"limit"`
	Workers    int    `json:"workers"`
	Running    int    `json:"running"`
	Suspended  int    `json:"suspended"`
	Returning  int    `json:"returning"`
	Extra      int    `json:"extra"`
	Idle       int    `json:"idle"`
	InLanes    int    `json:"inLanes"`
	Queued     int    `json:"queued"`
	Waiting    int    `json:"waiting"`
	Timers     int    `json:"timers"`
	Throttled  bool   `json:"throttled"`
	Paused     bool   `json:"paused"`
	Closed     bool   `json:"closed"`
	Accepted   uint64 `json:"accepted"`
	Finished   uint64 `json:"finished"`
	HandedBack uint64 `json:"handedBack"`
	Rejected   uint64 `json:"rejected"`
	Panicked   uint64 `json:"panicked"`
}

// Durations is a histogram of durations.
type Durations struct {
	Count   uint64   `json:"count"`
	Sum     float64  `json:"sum"`
	P50     float64  `json:"p50"`
	P99     float64  `json:"p99"`
	Buckets []Bucket `json:"buckets,omitempty"` // non-empty buckets, ascending; only in the answer for one pool
}

// Bucket counts the durations that are longer than 2^-¼ times UpTo, and at most UpTo.
type Bucket struct {
	UpTo  float64 `json:"upTo"`
	Count uint64  `json:"count"`
}

// Lint is a state of a pool that is most often a mistake: see [weir.PoolInfo.Lints].
type Lint struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// Queue is a queue that outlives the program: see [exporter.Queues].
type Queue struct {
	Name        string    `json:"name"`
	Server      string    `json:"server,omitempty"`
	Waiting     int       `json:"waiting"`
	Leased      int       `json:"leased"`
	Redelivered int       `json:"redelivered"`
	Dead        int       `json:"dead"`
	Later       int       `json:"later"`
	Accepted    uint64    `json:"accepted"`
	Oldest      float64   `json:"oldest"`          // how long the oldest message has been there
	At          time.Time `json:"at,omitzero"`     // when the counts were requested; zero if none are known
	Error       string    `json:"error,omitempty"` // why the counts are not current
}

// Task is a running task.
type Task struct {
	Pool   uint64    `json:"pool,omitempty"` // ID of its pool; 0 on plain goroutines and workers of a group's own
	Worker int       `json:"worker"`
	Label  string    `json:"label,omitempty"`
	Since  time.Time `json:"since"`
	Group  uint64    `json:"group,omitempty"`
	Waits  string    `json:"waits,omitempty"`
	At     string    `json:"at,omitempty"`    // function, file and line of the program at which the task is, if it has run for a second
	Stack  string    `json:"stack,omitempty"` // only in the answer for the stack of one task

	running *weir.Running // nil in a Task decoded from JSON
}

// Group is a group in a [Snapshot]: see [weir.GroupInfo].
type Group struct {
	ID           uint64    `json:"id"`
	Pool         uint64    `json:"pool,omitempty"`
	Name         string    `json:"name,omitempty"`
	Label        string    `json:"label,omitempty"`
	Made         string    `json:"made,omitempty"`
	Waits        string    `json:"waits,omitempty"`
	Since        time.Time `json:"since"`
	Parent       uint64    `json:"parent,omitempty"`
	ParentPool   uint64    `json:"parentPool,omitempty"`
	ParentWorker int       `json:"parentWorker,omitempty"`
	Tasks        int       `json:"tasks"` // tasks that were given to the group and have not ended
	Running      []Task    `json:"running,omitempty"`
	LeftOut      int       `json:"leftOut,omitempty"` // more running tasks
}
