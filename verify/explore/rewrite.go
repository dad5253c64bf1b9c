package explore

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

const stepImport = "github.com/64ed045f/weir/internal/step"

// known has, for each package that concerns goroutines or time, every name that rewritten files may use of it:
// with what stands for it in package step, or "" if it stays.
var known = map[string]map[string]string{
	"sync/atomic": {
		"Bool": "Bool", "Int32": "Int32", "Int64": "Int64", "Uint32": "Uint32", "Uint64": "Uint64", "Pointer": "Pointer",
	},
	"sync": {"Mutex": "Mutex", "Cond": "Cond", "WaitGroup": "WaitGroup", "Once": "Once"},
	"weak": {"Pointer": "Weak", "Make": "MakeWeak"},
	"runtime": {
		"Gosched": "Gosched", "Goexit": "", "Callers": "", "CallersFrames": "",
	},
	"time": {
		"Now": "Now", "Since": "Since", "Sleep": "Sleep", "AfterFunc": "AfterFunc", "Timer": "Timer",
		"Time": "", "Duration": "", "Nanosecond": "", "Microsecond": "", "Millisecond": "", "Second": "", "Minute": "", "Hour": "",
	},
}

// harmless are the other packages that they may import: nothing in them waits, or depends on
// other goroutines.
var harmless = []string{
	"cmp", "errors", "fmt", "maps", "math", "math/bits", "math/rand/v2", "slices", "strings", "testing", "unsafe",
	stepImport, "github.com/64ed045f/weir/internal/backoff", "github.com/64ed045f/weir/internal/clock", "github.com/64ed045f/weir/internal/engine", "github.com/64ed045f/weir/internal/fifo", "github.com/64ed045f/weir/internal/claim", "github.com/64ed045f/weir/internal/feed", "github.com/64ed045f/weir/internal/histogram", "github.com/64ed045f/weir/internal/lane", "github.com/64ed045f/weir/internal/limit", "github.com/64ed045f/weir/internal/share", "github.com/64ed045f/weir/internal/planted",
}

// Rewrite returns files of one package, by name, with every operation on which goroutines
// meet replaced by its namesake of package step. All lines keep their numbers. An
// operation that has none is an error.
func Rewrite(files map[string]string) (map[string]string, error) {
	set := token.NewFileSet()
	packages := map[string][]*ast.File{}
	rewriters := map[string]*rewriter{}
	for name, source := range files {
		file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		packages[file.Name.Name] = append(packages[file.Name.Name], file)
		rewriters[name] = &rewriter{set: set, file: file, source: source}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	for name, parsed := range packages {
		// What comes from elsewhere stays unknown. It is enough to tell channels, and
		// packages from variables of their name.
		config := types.Config{Importer: nothing{}, Error: func(error) {}}
		_, _ = config.Check(name, set, parsed, info)
	}
	rewritten := map[string]string{}
	for name, r := range rewriters {
		r.info = info
		text, err := r.rewrite()
		if err != nil {
			return nil, err
		}
		rewritten[name] = text
	}
	return rewritten, nil
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

// rewriter rewrites one file. It replaces pieces of its text, since a printed syntax
// tree would have other lines.
type rewriter struct {
	set    *token.FileSet
	file   *ast.File
	source string
	info   *types.Info
	edits  []edit
	wanted bool // the file uses package step
	kept   map[string]bool
	errs   []error
}

type edit struct {
	from, to int
	text     string
}

func (r *rewriter) replace(from, to token.Pos, text string) {
	r.edits = append(r.edits, edit{r.set.Position(from).Offset, r.set.Position(to).Offset, text})
}

func (r *rewriter) insert(at token.Pos, text string) { r.replace(at, at, text) }

func (r *rewriter) failf(at ast.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", r.set.Position(at.Pos()), fmt.Sprintf(format, args...)))
}

func (r *rewriter) rewrite() (string, error) {
	r.kept = map[string]bool{}
	ast.Walk(visitor{r}, r.file)
	r.imports()
	if err := errors.Join(r.errs...); err != nil {
		return "", err
	}
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var out strings.Builder
	at := 0
	for _, e := range r.edits {
		if e.from < at {
			return "", fmt.Errorf("%s: two edits overlap at %q", r.set.Position(r.file.Package), r.source[e.from:e.to])
		}
		out.WriteString(r.source[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.WriteString(r.source[at:])
	return out.String(), nil
}

// imports removes what the file does not use any more, and imports step.
func (r *rewriter) imports() {
	has := false
	for _, spec := range r.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			r.failf(spec, "%v", err)
			continue
		}
		has = has || path == stepImport
		switch {
		case spec.Name != nil:
			r.failf(spec, "an import of another name is not known to the rewriter")
		case known[path] == nil && !slices.Contains(harmless, path):
			r.failf(spec, "package %s is not known to the rewriter", path)
		case known[path] != nil && !r.kept[path]:
			r.insert(spec.Pos(), "_ ")
		}
	}
	if r.wanted && !has {
		r.insert(r.file.Name.End(), "; import "+strconv.Quote(stepImport))
	}
}

// use is what stands for an operation.
func (r *rewriter) use(name string) string {
	r.wanted = true
	return "step." + name
}

// visitor walks through the file.
type visitor struct{ r *rewriter }

func (v visitor) Visit(node ast.Node) ast.Visitor {
	r := v.r
	if node == nil {
		return nil
	}
	switch n := node.(type) {
	case *ast.SelectorExpr:
		r.selector(n)
	case *ast.GoStmt:
		r.goStatement(n)
	case *ast.SelectStmt:
		r.selectStatement(n)
	case *ast.CommClause:
		v.communication(n)
		return nil
	case *ast.SendStmt:
		r.insert(n.Pos(), r.use("Send("))
		r.replace(n.Arrow, n.Arrow+2, ",")
		r.insert(n.End(), ")")
	case *ast.AssignStmt:
		if arrow, ok := receiveOf(n.Rhs[0]); ok && len(n.Lhs) == 2 && len(n.Rhs) == 1 {
			r.receive(arrow, "ReceiveOK(")
			for _, e := range n.Lhs {
				ast.Walk(v, e)
			}
			ast.Walk(v, arrow.X)
			return nil
		}
	case *ast.ValueSpec:
		if len(n.Names) == 2 && len(n.Values) == 1 {
			if _, ok := receiveOf(n.Values[0]); ok {
				r.failf(n, "a var declaration that receives is not known to the rewriter")
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			r.receive(n, "Receive(")
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "close" {
			r.replace(f.Pos(), f.End(), r.use("Close"))
		}
	case *ast.RangeStmt:
		if t := r.info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Chan); ok {
				r.failf(n, "range over a channel is not known to the rewriter")
			}
		}
	}
	return v
}

// communication walks through the clause of a select statement, but leaves the channel
// operation itself: when the goroutine comes to it, the operation does not block.
func (v visitor) communication(n *ast.CommClause) {
	switch op := operation(n.Comm).(type) {
	case *ast.SendStmt:
		ast.Walk(v, op.Chan)
		ast.Walk(v, op.Value)
	case *ast.UnaryExpr:
		ast.Walk(v, op.X)
	}
	if assign, ok := n.Comm.(*ast.AssignStmt); ok {
		for _, e := range assign.Lhs {
			ast.Walk(v, e)
		}
	}
	for _, s := range n.Body {
		ast.Walk(v, s)
	}
}

func receiveOf(e ast.Expr) (*ast.UnaryExpr, bool) {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return u, ok && u.Op == token.ARROW
}

// operation is the send or the receive of a communication, or nil.
func operation(comm ast.Stmt) ast.Node {
	switch c := comm.(type) {
	case nil:
		return nil
	case *ast.ExprStmt:
		return ast.Unparen(c.X)
	case *ast.AssignStmt:
		return ast.Unparen(c.Rhs[0])
	default:
		return comm
	}
}

func (r *rewriter) receive(n *ast.UnaryExpr, name string) {
	r.replace(n.OpPos, n.OpPos+2, r.use(name))
	r.insert(n.End(), ")")
}

func (r *rewriter) selector(n *ast.SelectorExpr) {
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	p, ok := r.info.Uses[x].(*types.PkgName)
	if !ok {
		return
	}
	path := p.Imported().Path()
	names := known[path]
	if names == nil {
		return
	}
	switch name, ok := names[n.Sel.Name]; {
	case !ok:
		r.failf(n, "%s.%s is not known to the rewriter", x.Name, n.Sel.Name)
	case name == "":
		r.kept[path] = true
	default:
		r.replace(n.Pos(), n.End(), r.use(name))
	}
}

func (r *rewriter) goStatement(n *ast.GoStmt) {
	args := n.Call.Args
	if len(args) > 2 || n.Call.Ellipsis.IsValid() {
		r.failf(n, "a go statement with %d arguments is not known to the rewriter", len(args))
	}
	r.replace(n.Go, n.Call.Fun.Pos(), r.use(fmt.Sprintf("Go%d(", len(args))))
	separator := ""
	if len(args) > 0 {
		separator = ", "
	}
	r.replace(n.Call.Lparen, n.Call.Lparen+1, separator)
}

func (r *rewriter) selectStatement(n *ast.SelectStmt) {
	name, number := "Select(", 0
	var cases []string
	for _, s := range n.Body.List {
		clause := s.(*ast.CommClause) // the syntax has no other
		if clause.Comm == nil {
			name = "SelectDefault("
			continue
		}
		var ch ast.Expr
		direction := "From("
		switch op := operation(clause.Comm).(type) {
		case *ast.SendStmt:
			ch, direction = op.Chan, "To("
		case *ast.UnaryExpr:
			ch = op.X
		}
		if !plain(ch) {
			r.failf(clause, "the channel of a case is more than a name")
			return
		}
		text := r.source[r.set.Position(ch.Pos()).Offset:r.set.Position(ch.End()).Offset]
		cases = append(cases, r.use(direction)+text+")")
		r.replace(clause.Case, clause.Comm.Pos(), fmt.Sprintf("case %d: ", number))
		r.replace(clause.Colon, clause.Colon+1, ";")
		number++
	}
	if number == 0 {
		r.failf(n, "a select statement without cases is not known to the rewriter")
	}
	r.replace(n.Select, n.Body.Lbrace, "switch "+r.use(name)+strings.Join(cases, ", ")+") ")
}

// plain reports whether an expression may be evaluated twice.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(e.X)
	default:
		return false
	}
}
