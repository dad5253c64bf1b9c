// Package draw makes random choices by rapid, each as often as the others: rapid itself prefers small numbers.
package draw

import (
	"math/bits"

	"pgregory.net/rapid"
)

// Below returns a generator of the numbers from 0 to n-1, which it makes of bits. Four more than needed make them even enough.
func Below(n int) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		number := 0
		for range bits.Len(uint(n-1)) + 4 {
			number *= 2
			if rapid.Bool().Draw(t, "bit") {
				number++
			}
		}
		return number % n
	})
}
