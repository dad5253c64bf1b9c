package weirhttp_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/64ed045f/weir/internal/check"
	"github.com/64ed045f/weir/weirhttp"
)

// Each line is of one site: while a request to the first is under way, one to each of the others has to wait, and is refused.
func TestAHostIsOneHoweverItIsSpelled(t *testing.T) {
	sites := [][]string{
		{"http://example.com/", "http://EXAMPLE.com/other", "http://example.com:80/", "http://example.com:080/", "http://example.com./", "http://Example.Com.:0080/"},
		{"https://example.com/", "https://example.com:443/", "http://example.com:443/"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/", "http://BÜCHER.example./", "http://bücher。example/"},
		{"http://xn--f9dt7l.example/", "http://ᏣᎳᎩ.example/", "http://ꮳꮃꭹ.example/"}, // looked up in upper case
		// The examples of RFC 3492, 7.1.
		{"http://ليهمابتكلموشعربي؟/", "http://xn--egbpdaj6bu4bxfgehfvwxn/"},
		{"http://他们为什么不说中文/", "http://xn--ihqwcrb4cv8a8dqg056pqjye/"},
		{"http://3年b組金八先生/", "http://xn--3b-ww4c5e180e575a65lsy2b/"},
		{"http://そのスピードで/", "http://xn--d9juau41awczczp/"},
		{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::0001]:80/"},
		{"http://[2001:DB8::a]:8080/", "http://[2001:db8:0::A]:8080/"},
		{"http://127.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"},
		{"http://[fe80::1%25eth0]/", "http://[fe80:0::1%25eth0]:80/"},
		{"http://[fe80::1%25eth1]/"},
		{"http://example.com:81/"},
		{"http://127.0.0.2/"},
		{"ftp://example.com/"},
		{"http://istanbul.example/", "http://ISTANBUL.example/"},
		{"http://İstanbul.example/", "http://i\u0307stanbul.example/"},
	}
	bodies := map[string]*http.Response{}
	transport := &weirhttp.Transport{PerHost: 1, Queue: -1, Base: base(func(r *http.Request) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		_, err := recorder.WriteString("hello")
		return recorder.Result(), err
	})}
	request := func(address string) (*http.Response, error) {
		u, err := url.Parse(address)
		check.OK(t, err)
		return transport.RoundTrip((&http.Request{URL: u}).WithContext(t.Context()))
	}
	for _, site := range sites {
		response, err := request(site[0])
		if err != nil {
			t.Errorf("%s is taken for another site: %v", site[0], err)
			continue
		}
		bodies[site[0]] = response
		for _, other := range site[1:] {
			response, err := request(other)
			if err == nil {
				check.OK(t, response.Body.Close())
				t.Errorf("%s is taken for another site than %s", other, site[0])
				continue
			}
			check.Error(t, err, weirhttp.ErrOverloaded)
		}
	}
	for _, response := range bodies {
		check.OK(t, response.Body.Close())
	}
}

func TestANameThatIsTooLongToBeLookedUpIsNotEncoded(t *testing.T) {
	runes := make([]rune, 20_000)
	for i := range runes {
		runes[i] = 0x20000 + rune(i*7919%len(runes))
	}
	label := func(n int) string { return string(runes[:n]) }
	huge := label(20_000) + "\U0010FFFF"       // to encode it takes long, and more than an int of 32 bits
	for name, want := range map[string]string{ // "" stands for an encoded label, whatever it is
		huge:                                   huge,
		label(63):                              "",
		label(64):                              label(64),
		"A." + label(64) + ".Bücher.example":   "a." + label(64) + ".xn--bcher-kva.example",
		strings.Repeat("Bücher.", 36) + "exa":  strings.Repeat("xn--bcher-kva.", 36) + "exa",
		strings.Repeat("Bücher.", 36) + "exam": strings.Repeat("bücher.", 36) + "exam",
		strings.Repeat("\U0010FFFF\U0010FFFE", 31): "",
	} {
		transport := &weirhttp.Transport{PerHost: 1, Queue: -1, Base: base(hello)}
		r := (&http.Request{URL: &url.URL{Scheme: "http", Host: name}}).WithContext(t.Context())
		response, err := transport.RoundTrip(r)
		check.Must(t, err)
		_, err = transport.RoundTrip(r)
		check.Error(t, err, weirhttp.ErrOverloaded)
		host := strings.TrimPrefix(err.Error(), "weirhttp: too many requests to one host: 0 wait for ")
		if want == "" {
			check.Equal(t, "begin of the host", host[:4], "xn--")
		} else {
			check.Equal(t, "host", host, want+":80")
		}
		check.OK(t, response.Body.Close())
	}
}
