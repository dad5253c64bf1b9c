package peers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names returns the names of all tests and examples in the Go files below a folder, sorted.
// A test with subtests stands there as these, as far as their names are literals:
//
//	pool.TestPool/limit
func Names(folder string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && isTest(f) {
				name := strings.TrimSuffix(file.Name.Name, "_test") + "." + f.Name.Name
				names = append(names, leaves(name, f.Body)...)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// isTest reports whether the go command runs the function as a test or an example.
func isTest(f *ast.FuncDecl) bool {
	name := f.Name.Name
	return f.Recv == nil && name != "TestMain" &&
		(strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz"))
}

// leaves returns the names of the subtests that the body of a test runs, or else its own.
func leaves(name string, body ast.Node) []string {
	var found []string
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || method.Sel.Name != "Run" {
			return true
		}
		literal, ok := call.Args[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		subtest, err := strconv.Unquote(literal.Value)
		if err != nil {
			return true
		}
		found = append(found, leaves(name+"/"+subtest, call.Args[1])...)
		return false
	})
	if found == nil {
		return []string{name}
	}
	return found
}
