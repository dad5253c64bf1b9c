// Package frames tells the functions of this module and of the standard library from those of a program.
package frames

import (
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Module is the path of this module.
const Module = "github.com/64ed045f/weir"

// IsLibrary reports whether the function, in that file, is of a package of this module.
func IsLibrary(function, file string) bool {
	if rest, ok := strings.CutPrefix(function, Module+"/"); ok {
		name, _, _ := strings.Cut(rest, ".")
		return isPackage(name)
	}
	if strings.HasPrefix(function, Module+".") {
		return true
	}
	// The compiler gives a function literal that it inlines the name of the function in which it then is.
	name, ok := strings.CutPrefix(file, here())
	return ok && !strings.Contains(name, "_test.go") && (path.Dir(name) == "." || isPackage(path.Dir(name)))
}

func isPackage(name string) bool {
	public, _, _ := strings.Cut(name, "/internal/")
	return strings.HasPrefix(name, "internal/") || slices.Contains(publicPackages, public)
}

// here is the folder of this module, with a slash behind it, as the runtime names it.
var here = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(path.Dir(file))) + "/"
})

var publicPackages = []string{"errgroup", "exporter", "par", "reuse", "weirdebug", "weirhttp", "weirnats", "weirotel", "weirprom"}

// IsStandard reports whether the function, in that file, is one of the standard library, and not of one of the modules.
func IsStandard(function, file string, modules []string) bool {
	folder := path.Dir(function)
	name, _, _ := strings.Cut(path.Base(function), ".")
	name = path.Join(folder, name) // of the package
	if first, _, _ := strings.Cut(name, "/"); first == "main" || strings.Contains(first, ".") {
		return false
	}
	for _, module := range modules {
		if name == module || strings.HasPrefix(name, module+"/") {
			return false
		}
	}
	in := func(folder string) bool {
		return path.Dir(file) == folder || strings.HasSuffix(path.Dir(file), "/src/"+folder)
	}
	return in(name) || in("runtime") // which has functions of other packages, such as those on which a Mutex waits
}
