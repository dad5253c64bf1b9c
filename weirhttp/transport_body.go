package weirhttp

import (
	"context"
	"io"
)

// hold wraps body so that it gives the slot back when the client is done with it, or when the context of the
// request ends. A body that the client can write to, such as a connection, stays writable, and outlives the
// context.
func hold(ctx context.Context, body io.ReadCloser, s *slot) io.ReadCloser {
	h := held{body, s}
	w, writes := body.(io.Writer)
	c, closesWrite := body.(writeCloser)
	switch {
	case !writes:
		return &readBody{h, context.AfterFunc(ctx, s.release)}
	case !closesWrite:
		return &connectionBody{h, w}
	default:
		return &halfClosableBody{connectionBody{h, w}, c}
	}
}

type writeCloser interface{ CloseWrite() error }

// held is a body that gives its slot back when it is closed.
type held struct {
	io.ReadCloser
	slot *slot
}

// Close closes the body first, so that its connection is free for the next request.
func (h held) Close() error {
	defer h.slot.release()
	return h.ReadCloser.Close()
}

// readBody also gives its slot back at the end of the body and after an error: no more data comes then, and
// net/http does not insist on Close. When the context of the request ends, net/http gives its connection up.
type readBody struct {
	held
	unwatch func() bool // ends the watch over the context of the request
}

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.slot.release() // first: a context of the program's own may panic in unwatch
		b.unwatch()
	}
	return n, err
}

// Close closes the body first, as that of held does.
func (b *readBody) Close() error {
	defer b.unwatch()
	return b.held.Close()
}

// connectionBody can still be written to at the end of reading, so only Close gives its slot back.
type connectionBody struct {
	held
	io.Writer
}

type halfClosableBody struct {
	connectionBody
	writeCloser
}
