package weirhttp

import "io"

// hold wraps body so that it gives the slot back when the client is done with it. A body that the client can
// write to, such as a connection, stays writable.
func hold(body io.ReadCloser, s *slot) io.ReadCloser {
	h := held{body, s}
	w, writes := body.(io.Writer)
	c, closesWrite := body.(writeCloser)
	switch {
	case !writes:
		return &readBody{h}
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
// net/http does not insist on Close.
type readBody struct{ held }

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.slot.release()
	}
	return n, err
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
