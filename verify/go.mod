module github.com/64ed045f/weir/verify

go 1.26.0

replace github.com/64ed045f/weir => ..

require github.com/64ed045f/weir v0.0.0-00010101000000-000000000000

require (
	github.com/anishathalye/porcupine v1.3.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)
