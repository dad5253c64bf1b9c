package weirnats_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/64ed045f/weir/weirnats"
)

// secret is the password in the tests of this file.
const secret = "s3cr3t correct horse"

// loggedText is a logger, and what it has written.
type loggedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *loggedText) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *loggedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *loggedText) option() weirnats.Option {
	return weirnats.Logger(slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// credentials returns a file with a user, and the public key of another; and the seed of that.
func credentials(t *testing.T) (file string, seed []byte) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	noError(t, err)
	key, err := pair.PublicKey()
	noError(t, err)
	seed, err = pair.Seed()
	noError(t, err)
	file = filepath.Join(t.TempDir(), "users")
	noError(t, os.WriteFile(file, []byte("# of the tests\n\nworker:"+secret+"\n"+key+"\n"), 0o600))
	return file, seed
}

// byKey is the option of a client that has a seed.
func byKey(t *testing.T, seed []byte) nats.Option {
	t.Helper()
	pair, err := nkeys.FromSeed(seed)
	noError(t, err)
	key, err := pair.PublicKey()
	noError(t, err)
	return nats.Nkey(key, pair.Sign)
}

func TestOtherProcessesLogInToTheServerOfAProgram(t *testing.T) {
	t.Parallel()
	file, seed := credentials(t)
	var log loggedText
	opts := append(slices.Clip(childOptions), log.option(), weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file)))
	dir := t.TempDir()
	q := open[string](t, dir, "work", opts...)
	same := open[string](t, dir, "work", opts...)
	equal(t, "address", same.Addr().String(), q.Addr().String())
	url := "nats://" + q.Addr().String()
	for _, login := range []nats.Option{nats.UserInfo("worker", secret), byKey(t, seed)} {
		other, err := weirnats.Open[string](t.Context(), "work", append(slices.Clip(childOptions), weirnats.Server(url, login))...)
		noError(t, err)
		noError(t, other.Put(t.Context(), "by another"))
		if other.Addr() != nil {
			t.Errorf("a client listens at %v", other.Addr())
		}
		noError(t, other.Close())
	}
	const n = 50
	for i := range n {
		noError(t, q.Put(t.Context(), fmt.Sprint(i)))
	}
	c := start(t, "worker", dir, "nats://worker:"+strings.ReplaceAll(secret, " ", "%20")+"@"+q.Addr().String())
	drained(t, q)
	c.kill()
	equal(t, "done", len(lines(t, dir, "done")), n+1)

	stranger, err := nkeys.CreateUser()
	noError(t, err)
	strange, err := stranger.Seed()
	noError(t, err)
	for what, login := range map[string]nats.Option{
		"nothing":              nats.Name("JetStream out of space, will be DISABLED"),
		"a wrong password":     nats.UserInfo("worker", secret+"!"),
		"an empty password":    nats.UserInfo("worker", ""),
		"a wrong name":         nats.UserInfo("JetStream critical write error", secret),
		"the key of a strange": byKey(t, strange),
		"a token":              nats.Token(secret),
	} {
		_, err := weirnats.Open[string](t.Context(), "work", weirnats.Server(url, login), quiet)
		isError(t, err, nats.ErrAuthorization)
		if strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: error is %v", what, err)
		}
		_, err = weirnats.OpenAdmin(t.Context(), weirnats.Server(url, login), quiet)
		isError(t, err, nats.ErrAuthorization)
	}
	noError(t, q.Put(t.Context(), "the server is well"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	p := newPool(t, 1)
	noError(t, q.Serve(ctx, p, func(context.Context, string) error {
		cancel()
		return nil
	}))
	if text := log.String(); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "authentication error") {
		t.Errorf("the log is %s", text)
	}
}

// authority makes certificates.
type authority struct {
	*testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t}
	c := a.make(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.certificate, a.key = c.Leaf, c.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

func (a *authority) make(c *x509.Certificate) tls.Certificate {
	a.Helper()
	a.serial++
	c.SerialNumber, c.Subject = big.NewInt(a.serial), pkix.Name{CommonName: "a test"}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(a, err)
	by, byKey := a.certificate, a.key
	if by == nil {
		by, byKey = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, byKey)
	noError(a, err)
	leaf, err := x509.ParseCertificate(der)
	noError(a, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) server() tls.Certificate {
	return a.make(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
}

func (a *authority) client() tls.Certificate {
	return a.make(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.certificate)
	return p
}

func TestOtherProcessesLogInByCertificates(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t), newAuthority(t)
	server := &tls.Config{Certificates: []tls.Certificate{a.server()}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(), MinVersion: tls.VersionTLS13}
	file, _ := credentials(t)
	for _, both := range []bool{false, true} {
		access := []weirnats.Access{weirnats.TLS(server)}
		if both {
			access = append(access, weirnats.Credentials(file))
		}
		q := open[string](t, t.TempDir(), "work", weirnats.Listen("127.0.0.1:0", access...))
		noError(t, q.Put(t.Context(), "by the program itself"))
		url := "tls://" + q.Addr().String()
		connect := func(url string, with *tls.Config, opts ...nats.Option) error {
			if with != nil {
				opts = append(opts, nats.Secure(with))
			}
			c, err := weirnats.Open[string](t.Context(), "work", quiet, weirnats.Server(url, opts...))
			if err != nil {
				return err
			}
			defer func() { noError(t, c.Close()) }()
			return c.Put(t.Context(), "by another")
		}
		good := &tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{a.client()}, MinVersion: tls.VersionTLS13}
		login := nats.UserInfo("worker", secret)
		noError(t, connect(url, good, login))
		if err := connect(url, good); (err != nil) != both {
			t.Errorf("without a password, where there must be one: %v: error is %v", both, err)
		}
		for what, with := range map[string]*tls.Config{
			"no certificate":              {RootCAs: a.pool(), MinVersion: tls.VersionTLS13},
			"one of another":              {RootCAs: a.pool(), Certificates: []tls.Certificate{other.client()}, MinVersion: tls.VersionTLS13},
			"that of a server":            {RootCAs: a.pool(), Certificates: []tls.Certificate{a.server()}, MinVersion: tls.VersionTLS13},
			"another idea of authorities": {RootCAs: other.pool(), Certificates: []tls.Certificate{a.client()}, MinVersion: tls.VersionTLS13},
		} {
			if err := connect(url, with, login); err == nil {
				t.Errorf("with %s it connects", what)
			}
		}
		if err := connect(strings.Replace(url, "tls", "nats", 1), nil, login); err == nil {
			t.Error("without a certificate it connects")
		}
	}
}

// An ID is known after a new start, whichever process has done the message, and whichever puts it again.
func TestAllProcessesOfAProgramThatListensKnowWhatIsDone(t *testing.T) {
	t.Parallel()
	file, _ := credentials(t)
	dir := t.TempDir()
	both := func() (all []*weirnats.Queue[string]) {
		own := open[string](t, dir, "work", append(slices.Clip(childOptions), weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file)))...)
		other, err := weirnats.Open[string](t.Context(), "work", append(slices.Clip(childOptions), weirnats.Server("nats://"+own.Addr().String(), nats.UserInfo("worker", secret)))...)
		noError(t, err)
		return []*weirnats.Queue[string]{other, own}
	}
	ids := []string{"done by the other", "done by the program"}
	all := both()
	for i, q := range all {
		noError(t, q.Put(t.Context(), "a", weirnats.ID(ids[i])))
		ctx, cancel := context.WithCancel(t.Context())
		noError(t, q.Serve(ctx, newPool(t, 1), func(context.Context, string) error {
			cancel()
			return nil
		}))
	}
	for _, q := range all {
		noError(t, q.Close())
	}
	all = both()
	for _, q := range all {
		for _, id := range ids {
			noError(t, q.Put(t.Context(), "a", weirnats.ID(id)))
		}
	}
	s, err := all[0].Stats(t.Context())
	noError(t, err)
	equal(t, "messages", s.Messages, 0)
	noError(t, all[0].Close())
}

func TestListenRefusesAnOpenAddress(t *testing.T) {
	a := newAuthority(t)
	file, _ := credentials(t)
	write := func(text string, mode os.FileMode) string {
		name := filepath.Join(t.TempDir(), "users")
		noError(t, os.WriteFile(name, []byte(text), mode))
		return name
	}
	config := func(change func(*tls.Config)) weirnats.Access {
		c := &tls.Config{Certificates: []tls.Certificate{a.server()}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(), MinVersion: tls.VersionTLS13}
		change(c)
		return weirnats.TLS(c)
	}
	cases := map[string]weirnats.Option{
		"any process could connect: use Credentials, or TLS": weirnats.Listen("127.0.0.1:0"),
		"any process could connect: use Credentials":         weirnats.Listen("127.0.0.1:0", config(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })),
		"any process could connect: use":                     weirnats.Listen("127.0.0.1:0", config(func(c *tls.Config) { c.ClientAuth = tls.VerifyClientCertIfGiven })),
		"of a public authority":                              weirnats.Listen("127.0.0.1:0", config(func(c *tls.Config) { c.ClientCAs = nil })),
		"as GetConfigForClient sets another": weirnats.Listen("127.0.0.1:0", config(func(c *tls.Config) {
			c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }
		})),
		"has no certificate":           weirnats.Listen("127.0.0.1:0", config(func(c *tls.Config) { c.Certificates = nil }), weirnats.Credentials(file)),
		"no such file":                 weirnats.Listen("127.0.0.1:0", weirnats.Credentials(filepath.Join(t.TempDir(), "none"))),
		"there are none in":            weirnats.Listen("127.0.0.1:0", weirnats.Credentials(write("# none\n", 0o600))),
		"line 2 of":                    weirnats.Listen("127.0.0.1:0", weirnats.Credentials(write("a:"+secret+"\n"+secret+"\n", 0o600))),
		"line 1 of":                    weirnats.Listen("127.0.0.1:0", weirnats.Credentials(write("a:\n", 0o600))),
		"has the name of an earlier":   weirnats.Listen("127.0.0.1:0", weirnats.Credentials(write("a:"+secret+"\na:x\n", 0o600))),
		"missing port in address":      weirnats.Listen("127.0.0.1", weirnats.Credentials(file)),
		"Listen at 127.0.0.1:nothing:": weirnats.Listen("127.0.0.1:nothing", weirnats.Credentials(file)),
	}
	if runtime.GOOS != "windows" {
		delete(cases, "no such file")
		cases["no such file or directory"] = weirnats.Listen("127.0.0.1:0", weirnats.Credentials(filepath.Join(t.TempDir(), "none")))
		cases["mode 0640"] = weirnats.Listen("127.0.0.1:0", weirnats.Credentials(write("a:"+secret, 0o640)))
	}
	for want, listen := range cases {
		dir := filepath.Join(t.TempDir(), "queues")
		_, err := weirnats.Open[string](t.Context(), "a", weirnats.Dir(dir), quiet, listen)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "weirnats: Listen at 127.0.0.1") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("error is %v, want %s", err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder was made", want)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer taken.Close()
	began := time.Now()
	_, err = weirnats.Open[string](t.Context(), "a", weirnats.Dir(t.TempDir()), quiet, weirnats.Listen(taken.Addr().String(), weirnats.Credentials(file)))
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) || time.Since(began) > time.Minute {
		t.Errorf("after %v the error is %v", time.Since(began), err)
	}
}

func TestQueuesOfAFolderListenAtTheSamePlace(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	file, _ := credentials(t)
	other, _ := credentials(t)
	config := &tls.Config{Certificates: []tls.Certificate{a.server()}, MinVersion: tls.VersionTLS13}
	dir := t.TempDir()
	q := open[string](t, dir, "a", weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file), weirnats.TLS(config)))
	open[string](t, dir, "b", weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file), weirnats.TLS(config)))
	for what, opts := range map[string][]weirnats.Option{
		"nowhere":           nil,
		"another port":      {weirnats.Listen(q.Addr().String(), weirnats.Credentials(file), weirnats.TLS(config))},
		"other credentials": {weirnats.Listen("127.0.0.1:0", weirnats.Credentials(other), weirnats.TLS(config))},
		"without TLS":       {weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file))},
		"another TLS":       {weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file), weirnats.TLS(config.Clone()))},
	} {
		_, err := weirnats.Open[string](t.Context(), "c", append(opts, weirnats.Dir(dir), quiet)...)
		if err == nil || !strings.HasSuffix(err.Error(), " is open in this process with another Listen") {
			t.Errorf("%s: error is %v", what, err)
		}
	}
	dir = t.TempDir()
	if plain := open[string](t, dir, "a"); plain.Addr() != nil {
		t.Errorf("it listens at %v", plain.Addr())
	}
	if _, err := weirnats.Open[string](t.Context(), "b", weirnats.Dir(dir), quiet, weirnats.Listen("127.0.0.1:0", weirnats.Credentials(file))); err == nil {
		t.Error("a server that listens nowhere listens now")
	}
}
