package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// HotPathKey is the name of the setting that says which hot path was measured.
const HotPathKey = "weir-hotpath"

// measured are the packages that are measured. They, and all that they are made of, have the code that every task, result, item,
// index or object passes through, and the defaults of that code.
var measured = []string{".", "./par", "./reuse", "./weirhttp", "./errgroup"}

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
	const ofMain = "{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{range $.IgnoredGoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{end}}{{end}}"
	list := exec.Command("go", append([]string{"list", "-deps", "-f", ofMain}, measured...)...)
	list.Dir = root
	list.Env = append(os.Environ(), "GOWORK=off", "PWD="+root)
	names, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("the packages of %s: %w", root, err)
	}
	var files []string
	for name := range strings.Lines(string(names)) {
		relative, err := filepath.Rel(root, strings.TrimSpace(name))
		if err != nil {
			return "", err
		}
		if relative != "." && !strings.HasSuffix(relative, "_test.go") {
			files = append(files, filepath.ToSlash(relative))
		}
	}
	slices.Sort(files)
	var code bytes.Buffer
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		code.WriteString(name + "\n")
		writeTokens(&code, text)
	}
	digest := sha256.Sum256(code.Bytes())
	return hex.EncodeToString(digest[:])[:12], nil
}

// writeTokens writes the tokens of a file, without the ends of lines and without comments.
func writeTokens(to *bytes.Buffer, text []byte) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, scanner.ScanComments)
	for _, kind, literal := s.Scan(); kind != token.EOF; _, kind, literal = s.Scan() {
		if kind == token.SEMICOLON && literal == "\n" || kind == token.COMMENT && !strings.HasPrefix(literal, "//go:") {
			continue
		}
		to.WriteString(kind.String() + " " + literal + "\n")
	}
}
