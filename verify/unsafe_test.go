package verify_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/verify/internal/plant"
)

// Code that goes around the compiler says what keeps that safe: in the comment of the declaration or within it.
func TestEveryUseOfUnsafeSaysWhatMakesItSafe(t *testing.T) {
	uses := 0
	err := filepath.WalkDir(plant.Root(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != plant.Root():
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			source, err := os.ReadFile(path)
			check.Must(t, err)
			n, bare := unsafeUses(t, string(source))
			uses += n
			if bare > 0 {
				t.Errorf("%s: no comment says what makes %d uses of unsafe safe", path, bare)
			}
		}
		return nil
	})
	check.Must(t, err)
	if uses == 0 {
		t.Error("no use was found, though there are some")
	}
}

func TestUsesOfUnsafeAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		source     string
		uses, bare int
	}{
		"none":              {"package p\nfunc f() {}", 0, 0},
		"bare":              {"package p\nimport \"unsafe\"\nfunc f(p unsafe.Pointer) {}", 1, 1},
		"another name":      {"package p\nimport u \"unsafe\"\nvar x = u.Sizeof(1)", 1, 1},
		"said":              {"package p\nimport \"unsafe\"\n// f is safe: no code calls it.\nfunc f(p unsafe.Pointer) {}", 1, 0},
		"said of another":   {"package p\nimport \"unsafe\"\n// g is safe.\nfunc g() {}\nfunc f(p unsafe.Pointer) {}", 1, 1},
		"said within":       {"package p\nimport \"unsafe\"\nfunc f() {\n// Safe: it is never run.\n_ = unsafe.Pointer(nil)\n}", 1, 0},
		"only named":        {"package p\nimport \"unsafe\"\n// f is unsafe.\nfunc f(p unsafe.Pointer) {}", 1, 1},
		"a linkname":        {"package p\nimport _ \"unsafe\"\n//go:linkname f runtime.f\nfunc f()", 1, 1},
		"a linkname, said":  {"package p\nimport _ \"unsafe\"\n// f is safe, as it has no arguments.\n//\n//go:linkname f runtime.f\nfunc f()", 1, 0},
		"an import for all": {"package p\nimport . \"unsafe\"", 1, 1},
	} {
		if n, bare := unsafeUses(t, c.source); n != c.uses || bare != c.bare {
			t.Errorf("%s: %d uses, and nothing said of %d; want %d and %d", name, n, bare, c.uses, c.bare)
		}
	}
}

var (
	unsafely = regexp.MustCompile(`(?m)^([^/]*\bunsafe\.|//go:linkname)`)
	safely   = regexp.MustCompile(`(?i)//.*\bsafe\b`)
)

// unsafeUses counts the declarations of a file that use package unsafe or go:linkname, and those of them without a comment.
// To import the package under another name is a use without one.
func unsafeUses(t *testing.T, source string) (uses, bare int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments)
	check.Must(t, err)
	for _, spec := range file.Imports {
		if spec.Path.Value == `"unsafe"` && spec.Name != nil && spec.Name.Name != "_" {
			return 1, 1
		}
	}
	for _, decl := range file.Decls {
		from := decl.Pos()
		for _, doc := range file.Comments {
			if files.Position(doc.End()).Line+1 == files.Position(from).Line { // of the declaration
				from = doc.Pos()
			}
		}
		text := source[files.Position(from).Offset:]
		end := files.Position(decl.End()).Offset - files.Position(from).Offset
		if line := strings.Index(text[end:], "\n"); line >= 0 {
			text = text[:end+line]
		}
		if !unsafely.MatchString(text) {
			continue
		}
		if uses++; !safely.MatchString(text) {
			bare++
		}
	}
	return uses, bare
}
