package peers

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
		return eachTest(path, func(name string, f *ast.FuncDecl) {
			names = append(names, leaves(name, f.Body)...)
		})
	})
	slices.Sort(names)
	return names, err
}

// Tests returns the tests and examples in the Go files of one folder, each with the text of its file, in which the names of
// its subtests stand in quotes, as far as they are literals.
func Tests(folder string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	tests := map[string]string{}
	for _, path := range files {
		source, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr, eachTest(path, func(name string, _ *ast.FuncDecl) { tests[name] = string(source) }))
	}
	return tests, err
}

// eachTest calls found with each test and example of a file, and its name with that of the package.
func eachTest(path string, found func(name string, f *ast.FuncDecl)) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && isTest(f) {
			found(strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name, f)
		}
	}
	return nil
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
		subtest, ok := text(call.Args[0])
		if !ok {
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

// text returns the value of a string literal.
func text(node ast.Node) (value string, ok bool) {
	literal, ok := node.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}
