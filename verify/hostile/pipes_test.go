package hostile_test

import (
	"errors"
	"net"
	"time"
)

// pipes is a listener in memory, for bubbles, where no socket may be.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

func (p *pipes) dial() net.Conn {
	up, upEnd := net.Pipe()
	downEnd, down := net.Pipe()
	p.dialed <- duplex{in: upEnd, out: downEnd}
	return duplex{in: down, out: up}
}

// duplex is one end of a connection, which unlike that of a net.Pipe can be half closed.
type duplex struct{ in, out net.Conn }

func (d duplex) Read(b []byte) (int, error)         { return d.in.Read(b) }
func (d duplex) Write(b []byte) (int, error)        { return d.out.Write(b) }
func (d duplex) CloseWrite() error                  { return d.out.Close() }
func (d duplex) Close() error                       { return errors.Join(d.in.Close(), d.out.Close()) }
func (d duplex) LocalAddr() net.Addr                { return d.in.LocalAddr() }
func (d duplex) RemoteAddr() net.Addr               { return d.in.RemoteAddr() }
func (d duplex) SetReadDeadline(t time.Time) error  { return d.in.SetReadDeadline(t) }
func (d duplex) SetWriteDeadline(t time.Time) error { return d.out.SetWriteDeadline(t) }
func (d duplex) SetDeadline(t time.Time) error {
	return errors.Join(d.in.SetDeadline(t), d.out.SetDeadline(t))
}
