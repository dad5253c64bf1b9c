package verify_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
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
			n, bare, err := unsafeUses(path, nil)
			uses += n
			for _, where := range bare {
				t.Errorf("%s: no comment says what makes this safe", where)
			}
			return err
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
		n, bare, err := unsafeUses("p.go", c.source)
		check.Must(t, err)
		if n != c.uses || len(bare) != c.bare {
			t.Errorf("%s: %d uses, and nothing said of %q; want %d and %d", name, n, bare, c.uses, c.bare)
		}
	}
}

// unsafeUses counts the declarations of a file that use package unsafe or go:linkname, and returns those without a comment.
func unsafeUses(path string, source any) (uses int, bare []string, err error) {
	files := token.NewFileSet()
	var text any
	if s, isText := source.(string); isText {
		text = s
	}
	file, err := parser.ParseFile(files, path, text, parser.ParseComments)
	if err != nil {
		return 0, nil, err
	}
	name := ""
	for _, spec := range file.Imports {
		if spec.Path.Value != `"unsafe"` {
			continue
		}
		name = "unsafe"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." { // the test could not tell one use from another
			return 1, []string{files.Position(spec.Pos()).String()}, nil
		}
	}
	for _, decl := range file.Decls {
		from := decl.Pos()
		if doc := docOf(decl); doc != nil {
			from = doc.Pos()
		}
		said, used := false, false
		for _, group := range file.Comments {
			if group.Pos() < from || group.Pos() > decl.End() && files.Position(group.Pos()).Line != files.Position(decl.End()).Line {
				continue
			}
			for _, word := range strings.FieldsFunc(group.Text(), func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
				said = said || strings.EqualFold(word, "safe")
			}
			for _, line := range group.List {
				used = used || strings.HasPrefix(line.Text, "//go:linkname")
			}
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if selector, is := n.(*ast.SelectorExpr); is {
				if base, is := selector.X.(*ast.Ident); is && name != "" && base.Name == name {
					used = true
				}
			}
			return true
		})
		if used {
			uses++
			if !said {
				bare = append(bare, files.Position(decl.Pos()).String())
			}
		}
	}
	return uses, bare, nil
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	default:
		return nil
	}
}
