// Command systems vets all packages of the workspace that it runs in, with their tests, as other operating systems compile them:
//
//	systems windows darwin
//
// It reads the types of what they import from the sources, without the bodies of functions. For `go vet` the compiler writes those types, for
// each system anew, which takes ten times as long. The analyzers are those of `go vet` that need to know nothing of the bodies of imports.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/packages"
)

var analyzers = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, copylock.Analyzer, defers.Analyzer, directive.Analyzer, errorsas.Analyzer,
	httpresponse.Analyzer, ifaceassert.Analyzer, loopclosure.Analyzer, lostcancel.Analyzer, nilfunc.Analyzer, shift.Analyzer, sigchanyzer.Analyzer,
	stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer, timeformat.Analyzer, unmarshal.Analyzer,
	unreachable.Analyzer, unsafeptr.Analyzer, waitgroup.Analyzer,
}

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax

func main() {
	failed := len(os.Args) < 2
	for _, system := range os.Args[1:] {
		n, err := vet(system)
		fmt.Printf("%s: %d packages\n", system, n)
		if err != nil {
			failed = true
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// vet returns how many packages it has looked at.
func vet(system string) (int, error) {
	found, err := packages.Load(&packages.Config{
		Mode:  mode,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system),
		Tests: true,
	}, "work")
	if err != nil {
		return 0, err
	}
	if n := packages.PrintErrors(found); n > 0 {
		return len(found), fmt.Errorf("%s: %d errors", system, n)
	}
	for _, a := range analyzers {
		if len(a.FactTypes) > 0 {
			return 0, fmt.Errorf("analyzer %s looks into imports", a.Name)
		}
	}
	graph, err := checker.Analyze(analyzers, found, nil)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(graph.Roots, func(a *checker.Action) bool { return a.Err != nil || len(a.Diagnostics) > 0 }) {
		return len(found), errors.Join(errors.New(system+": see above"), graph.PrintText(os.Stderr, -1))
	}
	return len(found), nil
}
