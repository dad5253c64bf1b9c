// Linecount counts the lines of files, eight files at a time.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/64ed045f/weir"
)

func main() {
	names := os.Args[1:]
	counts := weir.NewResults[int](weir.NewGroup(context.Background(), 8))
	for _, name := range names {
		counts.Go(func(context.Context) (int, error) {
			text, err := os.ReadFile(name)
			return bytes.Count(text, []byte("\n")), err
		})
	}
	values, err := counts.Wait() // in the order of the names; the first error cancels the rest
	if err != nil {
		log.Fatal(err)
	}
	for i, name := range names {
		fmt.Println(values[i], name)
	}
}
