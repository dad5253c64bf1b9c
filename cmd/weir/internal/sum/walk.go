package sum

import (
	"io/fs"
	"os"
	"slices"
)

// stdinName stands for standard input, both as a path and as a checksum list.
const stdinName = "-"

// A tree is one path of the command line: a cursor over the regular files at or below it, in the bytewise
// order of their full paths. Like find -P it follows no symbolic link, not even the path itself, and silently
// skips special files.
type tree struct {
	root   string
	opened bool
	levels []level // from the root down to the directory that the cursor is in
}

// A level is a directory and the names in it that are still to come.
type level struct {
	prefix string   // the directory's path with a slash at its end
	names  []string // names of files, and of directories with a slash at their end
}

// next moves the cursor. An item with an error stands for a file or directory that could not be read; the
// cursor then goes on after it.
func (t *tree) next() (item, bool) {
	if !t.opened {
		t.opened = true
		if t.root == stdinName {
			return item{path: stdinName}, true
		}
		info, err := os.Lstat(t.root)
		switch {
		case err != nil:
			return item{path: t.root, err: err}, true
		case info.Mode().IsRegular():
			return item{path: t.root}, true
		case info.IsDir():
			// As find does, add a slash only if there is none: dir/ gives dir/x, and dir// gives dir//x.
			prefix := t.root
			if !os.IsPathSeparator(prefix[len(prefix)-1]) {
				prefix += "/"
			}
			if err := t.enter(t.root, prefix); err != nil {
				return item{path: t.root, err: err}, true
			}
		}
	}
	for len(t.levels) > 0 {
		top := &t.levels[len(t.levels)-1]
		if len(top.names) == 0 {
			t.levels = t.levels[:len(t.levels)-1]
			continue
		}
		name := top.names[0]
		top.names = top.names[1:]
		path := top.prefix + name
		if name[len(name)-1] != '/' {
			return item{path: path}, true
		}
		dir := path[:len(path)-1]
		if err := t.enter(dir, path); err != nil {
			return item{path: dir, err: err}, true
		}
	}
	return item{}, false
}

// enter reads a directory and pushes it on levels. It keeps the names that could be read before an error.
//
// A directory's own name never appears in the output, only paths that continue with a slash after it. So
// enter sorts it with that slash: "a.c" comes before "a/b". Entering each directory in its turn then gives
// the order of the full paths.
func (t *tree) enter(dir, prefix string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|openAsDirectory, 0)
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	f.Close() //nolint:errcheck // Nothing was written.
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch e.Type() {
		case 0:
			names = append(names, e.Name())
		case fs.ModeDir:
			names = append(names, e.Name()+"/")
		}
	}
	slices.Sort(names)
	t.levels = append(t.levels, level{prefix: prefix, names: names})
	return err
}
