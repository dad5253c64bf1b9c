module github.com/64ed045f/weir

go 1.26.0
