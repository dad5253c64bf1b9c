package hostile_test

import (
	"slices"
	"strings"
)

// wire is what an attacker sends on one connection, and the outcome that it must have if the attacker sends it as a
// whole and nothing else goes on.
type wire struct {
	name string
	text string
	runs int   // requests that reach the handler
	want []int // the status of each answer
}

const (
	crlf = "\r\n"
	host = "Host: x\r\n"
)

func get(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\n" + host + lines(headers) + crlf
}

func post(path, length, body string, headers ...string) string {
	return "POST " + path + " HTTP/1.1\r\n" + host + "Content-Length: " + length + crlf + lines(headers) + crlf + body
}

func chunked(path, body string, headers ...string) string {
	return "POST " + path + " HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n" + lines(headers) + crlf + body
}

func lines(headers []string) string { return strings.Join(append(headers, ""), crlf) }

const hello = "5\r\nhello\r\n0\r\n\r\n"

// wellFormed are requests as they should be. They are cut off at every byte, too.
var wellFormed = []wire{
	{"get", get("/"), 1, []int{200}},
	{"a body", post("/echo", "5", "hello"), 1, []int{200}},
	{"a body that is not read", post("/", "5", "hello"), 1, []int{200}},
	{"chunks", chunked("/read", hello), 1, []int{200}},
	{"a trailer", chunked("/trailer", "5\r\nhello\r\n0\r\nSum: 1\r\n\r\n", "Trailer: Sum"), 1, []int{200}},
	{"pipelined", get("/nested") + post("/read", "5", "hello") + get("/flush"), 3, []int{200, 200, 200}},
	{"expect", post("/read", "5", "hello", "Expect: 100-continue"), 1, []int{100, 200}},
	{"upgrade", get("/", "Connection: Upgrade", "Upgrade: websocket"), 1, []int{200}},
	{"hijack", get("/hijack") + "line\n", 1, nil},
	{"http 1.0", "POST /read HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", 1, []int{200}},
	{"a handler that panics", get("/panic"), 1, nil},
	{"a handler that panics late", get("/late-panic"), 1, []int{200}},
	{"a handler that exits", get("/exit"), 1, nil},
	{"a handler that aborts", post("/abort", "5", "hello"), 1, nil},
}

// malformed are requests as they should not be, and some that are only strange.
var malformed = []wire{
	{"nothing", "", 0, nil},
	{"empty lines", "\r\n\r\n" + get("/"), 0, []int{400}},
	{"not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 0, []int{400}},
	{"a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 1, []int{404}},
	{"no version", "GET /\r\n\r\n", 0, []int{400}},
	{"an old version", "GET / HTTP/0.9\r\n\r\n", 0, []int{505}},
	{"a new version", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", 0, []int{505}},
	{"two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 0, []int{400}},
	{"a bad method", "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 0, []int{400}},
	{"a bad path", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 0, []int{400}},
	{"no host", "GET / HTTP/1.1\r\n\r\n", 0, []int{400}},
	{"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 0, []int{400}},
	{"a bad host", "GET / HTTP/1.1\r\nHost: \x01\r\n\r\n", 0, []int{400}},
	{"bare newlines", "GET / HTTP/1.1\nHost: x\n\n", 1, []int{200}},
	{"a folded header", get("/", "Key: a", " b"), 1, []int{200}},
	{"NUL in a header", get("/", "Key: a\x00b"), 0, []int{400}},
	{"a header without a colon", get("/", "Key"), 0, []int{400}},
	{"a blank before the colon", get("/", "Key : a"), 0, []int{400}},
	{"many headers of one name", get("/", slices.Repeat([]string{"Key: a"}, 1000)...), 1, []int{200}},
	{"a long header", get("/", "Key: "+strings.Repeat("k", 100_000)), 1, []int{200}},
	{"a header above the bound", get("/", "Key: "+strings.Repeat("k", 2<<20)), 0, []int{431}},
	{"a long path", get("/" + strings.Repeat("p", 100_000)), 1, []int{404}},
	{"a high priority", get("/", "Priority: 9223372036854775807"), 1, []int{200}},
	{"a priority beyond all numbers", get("/", "Priority: 99999999999999999999"), 1, []int{200}},
	{"two equal lengths", post("/read", "5", "hello", "Content-Length: 5"), 1, []int{200}},
	{"two lengths", post("/read", "5", "hello", "Content-Length: 6"), 0, []int{400}},
	{"a negative length", post("/read", "-5", "hello"), 0, []int{400}},
	{"a length with a sign", post("/read", "+5", "hello"), 0, []int{400}},
	{"a length beyond all numbers", post("/read", "99999999999999999999", "hello"), 0, []int{400}},
	{"a length that is too large", post("/read", "50", "hello"), 1, []int{400}},
	{"a length that is too large and not read", post("/", "50", "hello"), 1, []int{200}},
	{"a length that is huge and not read", post("/", "9223372036854775807", "hello"), 1, []int{200}},
	{"a length that is too small", post("/read", "2", "hello\r\n\r\n"), 1, []int{200, 400}},
	{"a length and chunks", chunked("/read", hello, "Content-Length: 3") + get("/"), 2, []int{200, 200}},
	{"an unknown coding", chunked("/read", hello, "Transfer-Encoding: gzip"), 0, []int{501}},
	{"a chunk of a bad size", chunked("/read", "x\r\nhello\r\n0\r\n\r\n"), 1, []int{400}},
	{"a chunk without an end", chunked("/read", "5\r\nhelloX\r\n0\r\n\r\n"), 1, []int{400}},
	{"a chunk of a huge size", chunked("/read", "ffffffffffffffff1\r\nhello\r\n"), 1, []int{400}},
	{"a chunk that is cut off", chunked("/read", "ffffff\r\nhello"), 1, []int{400}},
	{"a chunk with a long extension", chunked("/read", "5;"+strings.Repeat("e", 10_000)+"\r\nhello\r\n0\r\n\r\n"), 1, []int{400}},
	{"a bad trailer", chunked("/trailer", "5\r\nhello\r\n0\r\nSum\r\n\r\n", "Trailer: Sum"), 1, []int{200}},
	{"a trailer that is forbidden", chunked("/trailer", hello, "Trailer: Content-Length"), 0, []int{400}},
	{"an unknown expectation", post("/read", "5", "hello", "Expect: the worst"), 0, []int{417}},
	{"an expectation without a body", get("/", "Expect: 100-continue"), 1, []int{200}},
	{"an expectation that is cut off", post("/read", "5", "", "Expect: 100-continue"), 1, []int{100, 400}},
	{"a form that is cut off", post("/form", "500", "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\ny",
		"Content-Type: multipart/form-data; boundary=b"), 1, []int{200}},
	{"garbage behind a request", get("/") + "\x00\x01\x02\r\n\r\n", 1, []int{200, 400}},
	{"a body that is smuggled", post("/", "0", get("/panic")), 2, []int{200}},
	{"early hints", get("/early"), 1, []int{103, 200}},
	{"a method of its own", "BREW / HTTP/1.1\r\n" + host + crlf, 1, []int{200}},
	{"to all", "OPTIONS * HTTP/1.1\r\n" + host + crlf, 0, []int{200}},
	{"connect", "CONNECT x:1 HTTP/1.1\r\n" + host + crlf, 1, []int{404}},
	{"an absolute path", "GET http://y/ HTTP/1.1\r\n" + host + crlf, 1, []int{200}},
	{"an answer that is large", get("/big"), 1, []int{200}},
}
