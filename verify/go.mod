module github.com/64ed045f/weir/verify

go 1.26.0

replace github.com/64ed045f/weir => ..

require github.com/64ed045f/weir v0.1.0

require (
	github.com/anishathalye/porcupine v1.3.1
	go.uber.org/goleak v1.3.0
	golang.org/x/mod v0.42.0
	pgregory.net/rapid v1.3.0
)

require github.com/stretchr/testify v1.12.1 // indirect
