package overload

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"
)

// client is one connection, with one request at a time. The client of net/http, which has goroutines and pools of its own,
// would make the load use more of the machine than the server does.
type client struct {
	all  *clients
	conn net.Conn

	// Guarded by the clients' lock.
	busy bool
	due  time.Duration
}

var request = []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

// write sends the request. If it cannot be sent, read notices.
func (c *client) write() { _, _ = c.conn.Write(request) }

// read reads answers until the connection ends. A 503 that does not say when to come again counts as status 0.
func (c *client) read() {
	defer c.conn.Close()
	for from := bufio.NewReaderSize(c.conn, 1024); ; {
		answer, err := http.ReadResponse(from, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		if err != nil || from.Buffered() > 0 { // more than was asked for
			c.all.broken(c)
			return
		}
		status := answer.StatusCode
		if status == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") == "" {
			status = 0
		}
		again, kept := c.all.answered(c, status, !answer.Close)
		if again {
			c.write()
		}
		if !kept {
			return
		}
	}
}
