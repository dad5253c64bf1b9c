package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// HotPathKey is the name of the setting that says which hot path was measured.
const HotPathKey = "weir-hotpath"

// HotFiles are patterns, relative to the root of Weir. They match the packages that are measured, and all that these are made of: the code
// that every task, result, item, index or object passes through, and the defaults of that code.
var HotFiles = []string{
	"*.go", "errgroup/*.go", "internal/backoff/*.go", "internal/cause/*.go", "internal/claim/*.go", "internal/engine/*.go", "internal/feed/*.go",
	"internal/fifo/*.go", "internal/histogram/*.go", "internal/inside/*.go", "internal/keys/*.go", "internal/lane/*.go", "internal/limit/*.go",
	"internal/race/*.go", "internal/share/*.go", "internal/tree/*.go", "internal/waits/*.go", "par/*.go", "reuse/*.go", "weirhttp/*.go",
}

// Root returns the folder of the Weir source from which this program was built.
func Root() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("this program does not know where its source is")
	}
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "internal", "engine")); err != nil {
		return "", fmt.Errorf("the source of this program has moved: %w", err)
	}
	return root, nil
}

// HotPath returns a short digest of Weir's hot path. The figures of a run hold only for code with the same
// digest. White space and comments do not count, but directives to the compiler do.
func HotPath(root string) (string, error) {
	var files []string
	for _, pattern := range HotFiles {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("%s holds no %s", root, pattern)
		}
		files = append(files, found...)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	slices.Sort(files)
	var code bytes.Buffer
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		code.WriteString(name + "\n")
		tokens(text, func(kind token.Token, literal string) { code.WriteString(kind.String() + " " + literal + "\n") })
	}
	digest := sha256.Sum256(code.Bytes())
	return hex.EncodeToString(digest[:])[:12], nil
}

func tokens(text []byte, each func(kind token.Token, literal string)) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, scanner.ScanComments)
	for {
		_, kind, literal := s.Scan()
		if kind == token.EOF {
			return
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // the end of a line
		}
		if kind == token.COMMENT && !strings.HasPrefix(literal, "//go:") {
			continue
		}
		each(kind, literal)
	}
}
