module github.com/64ed045f/weir/cmd/weir

go 1.26.0

// This is go.mod with the line below, for work in the tree without the workspace. In go.mod a replace line would keep
// `go install github.com/64ed045f/weir/cmd/weir@version` from working.
replace github.com/64ed045f/weir => ../..

require (
	github.com/64ed045f/weir v0.1.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/vbauerster/mpb/v8 v8.9.3
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.30 // indirect
)
