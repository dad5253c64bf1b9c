package overload

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"time"
)

// client is one connection. It has one request at a time, and knows only as much of HTTP/1.1 as the answers
// here need. A client of net/http would make the load use more of the machine than the server does.
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

// read reads answers until the connection ends.
func (c *client) read() {
	defer c.conn.Close()
	var buffer [1024]byte
	have := 0
	for {
		n, err := c.conn.Read(buffer[have:])
		have += n
		a, whole := parse(buffer[:have])
		if whole && a.err == nil {
			have = 0
			again, kept := c.all.answered(c, a.status, !a.last)
			if again {
				c.write()
			}
			if kept {
				continue
			}
			return
		}
		if err != nil || a.err != nil || have == len(buffer) {
			c.all.broken(c)
			return
		}
	}
}

// An answer is an HTTP response of a server.
type answer struct {
	status int
	last   bool // the connection ends after it
	err    error
}

var errForeign = errors.New("no answer of HTTP/1.1 with a length")

var (
	head    = []byte("HTTP/1.1 ")
	endHead = []byte("\r\n\r\n")
	length  = []byte("\r\nContent-Length: ")
	closes  = []byte("\r\nConnection: close\r\n")
	again   = []byte("\r\nRetry-After: ")
)

// parse parses an answer; whole is false if text does not hold all of it. A 503 without Retry-After counts as
// status 0.
func parse(text []byte) (a answer, whole bool) {
	end := bytes.Index(text, endHead)
	if end < 0 {
		return a, false
	}
	fields := text[:end+2]
	body := text[end+len(endHead):]
	if !bytes.HasPrefix(fields, head) || len(fields) < len(head)+3 {
		return answer{err: errForeign}, true
	}
	a.status, a.err = strconv.Atoi(string(fields[len(head) : len(head)+3]))
	at := bytes.Index(fields, length)
	if a.err != nil || at < 0 {
		return answer{err: errForeign}, true
	}
	digits, _, _ := bytes.Cut(fields[at+len(length):], []byte("\r"))
	n, err := strconv.Atoi(string(digits))
	if err != nil || len(body) > n {
		return answer{err: errForeign}, true
	}
	a.last = bytes.Contains(fields, closes)
	if a.status == 503 && !bytes.Contains(fields, again) {
		a.status = 0
	}
	return a, len(body) == n
}
