package weirhttp

import "io"

// hold returns body as one that gives the slot back when nothing more can come of it. It can
// do what the body can: those that are connections may be written to.
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

// Close closes the body first, so that its connection may serve whose turn is next.
func (h held) Close() error {
	defer h.slot.release()
	return h.ReadCloser.Close()
}

// readBody also gives its slot back at the end of the body: net/http does not insist on
// Close then, nor after an error, which is the last that its bodies return.
type readBody struct{ held }

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.slot.release()
	}
	return n, err
}

// connectionBody may be written to when there is nothing more to read.
type connectionBody struct {
	held
	io.Writer
}

type halfClosableBody struct {
	connectionBody
	writeCloser
}
