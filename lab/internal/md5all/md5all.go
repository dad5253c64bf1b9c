// Package md5all is the survey's task in every library: the MD5 sum of each regular file below a folder. One
// goroutine walks the tree, several goroutines read and digest files, and the first error ends everything.
//
// All libraries run the same program. If a library has groups with contexts and errors, they run it.
// Otherwise the program does what the library does not do.
package md5all

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/64ed045f/weir/lab/internal/peer"
)

// A Program is one way to do it.
type Program struct {
	Name string // the library; if it has several forms, then a dot and the form
	peer string
}

// Programs are all programs, in the order of the tables.
var Programs = []Program{
	{"weir", "weir.Group"},
	{"go", "semaphore"},
	{"errgroup", "errgroup"},
	{"conc.pool", "conc.context"},
	{"conc.stream", "conc.stream"},
	{"ants", "ants.generic"},
	{"pond", "pond.group"},
	{"workerpool", "workerpool"},
	{"gopool", "gopool"},
}

// Run returns the sums of the regular files below root, by path. It digests at most digesters files at once. With an error it
// returns no sums. Soon after ctx is done, Run returns the cause. It leaves no goroutine behind. The peer runs a task for each
// file as soon as the walk has found the file.
func (p Program) Run(ctx context.Context, root string, digesters int) (map[string][md5.Size]byte, error) {
	return p.run(ctx, root, digesters, digestFile)
}

func (p Program) run(ctx context.Context, root string, digesters int, digest func(path string) ([md5.Size]byte, error)) (map[string][md5.Size]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var paths []string // one for each task that has been submitted and has not begun
	sums := make(map[string][md5.Size]byte)
	task := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		mu.Lock()
		path := paths[0]
		paths = paths[1:]
		mu.Unlock()
		sum, err := digest(path)
		if err != nil {
			cancel(err)
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		sums[path] = sum
		return nil
	}
	tasks := open(ctx, peer.Find(p.peer), digesters, task)
	defer tasks.Close()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case entry.Type().IsRegular():
			mu.Lock()
			paths = append(paths, path)
			mu.Unlock()
			tasks.Submit(0, 1)
		}
		return nil
	})
	if err != nil {
		cancel(err)
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sums, nil
}

// open returns the peer's group, or else a runner without errors.
func open(ctx context.Context, form peer.Peer, digesters int, task func() error) peer.Runner {
	if form.Group != nil {
		return form.Group(ctx, digesters, peer.GroupWork{Same: func(context.Context) error { return task() }})
	}
	return form.Open(digesters, func() {
		_ = task() // an error of task has cancelled the context
	})
}

// digestFile returns the MD5 sum of a file.
func digestFile(path string) (sum [md5.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	hash := md5.New()
	if _, err := io.Copy(hash, file); err != nil {
		return sum, err
	}
	return [md5.Size]byte(hash.Sum(nil)), nil
}

// Plant writes n files of random sizes below root, the same in each call, and returns their sums.
func Plant(root string, n int) (map[string][md5.Size]byte, error) {
	const perFolder = 100
	random := rand.New(rand.NewPCG(13, 5))
	sums := make(map[string][md5.Size]byte, n)
	for i := range n {
		folder := filepath.Join(root, fmt.Sprint(i/perFolder))
		if i%perFolder == 0 {
			if err := os.Mkdir(folder, 0o755); err != nil {
				return nil, err
			}
		}
		path := filepath.Join(folder, fmt.Sprint(i%perFolder))
		text := bytes.Repeat([]byte{byte(i)}, random.IntN(64<<10))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
		sums[path] = md5.Sum(text)
	}
	return sums, nil
}
