package par

// slots holds values by number, for as many consecutive numbers as its length: a power of two, or 0 at first.
type slots[T any] []T

func (s slots[T]) at(number int) *T { return &s[number&(len(s)-1)] }

// reserve makes room for the number last, while the numbers from first on are in use. If that takes a larger
// array, reserve moves the values from the number kept on to it.
func (s *slots[T]) reserve(first, kept, last int) {
	if last-first < len(*s) {
		return
	}
	grown := make(slots[T], max(8, 2*len(*s)))
	for number := kept; number < last; number++ {
		var none T
		*grown.at(number), *s.at(number) = *s.at(number), none // the consumer may hold s for long
	}
	*s = grown
}
