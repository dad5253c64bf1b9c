package weirdebug_test

import (
	"crypto/subtle"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/64ed045f/weir/weirdebug"
)

// The pages tell much about a program, so that a handler before them asks for a password.
func ExampleHandler() {
	password := []byte("from the program's settings")
	pages := weirdebug.Handler(weirdebug.Control())
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/weir/", func(w http.ResponseWriter, r *http.Request) {
		_, given, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(given), password) == 0 {
			w.Header().Set("WWW-Authenticate", `Basic realm="debug"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		pages.ServeHTTP(w, r)
	})

	r := httptest.NewRequest(http.MethodGet, "/debug/weir/", nil)
	for _, password := range []string{"guessed", string(password)} {
		w := httptest.NewRecorder()
		r.SetBasicAuth("operator", password)
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 401
	// 200
}

func ExampleVar() {
	expvar.Publish("weir", weirdebug.Var{}) // at /debug/vars
	fmt.Println(expvar.Get("weir") != nil)
	// Output:
	// true
}
