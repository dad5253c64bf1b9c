package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/64ed045f/weir/weirnats"
)

// keys returns a pair, with its public key and its seed.
func keys(t *testing.T, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public string, seed []byte) {
	t.Helper()
	pair, err := create()
	noError(t, err)
	public, err = pair.PublicKey()
	noError(t, err)
	seed, err = pair.Seed()
	noError(t, err)
	return pair, public, seed
}

func TestCredentialsInAFileOpenAServerOfAccounts(t *testing.T) {
	operator, operatorKey, _ := keys(t, nkeys.CreateOperator)
	account, accountKey, _ := keys(t, nkeys.CreateAccount)
	_, userKey, seed := keys(t, nkeys.CreateUser)
	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.DiskStorage, claims.Limits.MemoryStorage = jwt.NoLimit, jwt.NoLimit
	accountToken, err := claims.Encode(operator)
	noError(t, err)
	_, systemKey, _ := keys(t, nkeys.CreateAccount)
	systemToken, err := jwt.NewAccountClaims(systemKey).Encode(operator)
	noError(t, err)
	userToken, err := jwt.NewUserClaims(userKey).Encode(account)
	noError(t, err)
	text, err := jwt.FormatUserConfig(userToken, seed)
	noError(t, err)
	creds := filepath.Join(t.TempDir(), "user.creds")
	noError(t, os.WriteFile(creds, text, 0o600))

	accounts := &server.MemAccResolver{}
	noError(t, accounts.Store(accountKey, accountToken))
	noError(t, accounts.Store(systemKey, systemToken))
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
		TrustedKeys: []string{operatorKey}, AccountResolver: accounts, SystemAccount: systemKey,
	})
	noError(t, err)
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	url := s.ClientURL()
	fill(t, weirnats.Server(url, nats.UserCredentials(creds)))
	out, errs, status := weirq(t, "peek", "numbers", "--server", url, "--creds", creds)
	if !strings.Contains(out, "\n    7\n") || errs != "" || status != 0 {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
	_, other, _ := keys(t, nkeys.CreateUser)
	otherToken, err := jwt.NewUserClaims(other).Encode(account)
	noError(t, err)
	text = bytes.ReplaceAll(text, []byte(userToken), []byte(otherToken)) // with the seed of the first user
	noError(t, os.WriteFile(creds, text, 0o600))
	out, errs, status = weirq(t, "list", "--server", url, "--creds", creds)
	if out != "" || errs != "weirq: connect: nats: Authorization Violation\n" || status != 1 || strings.Contains(errs, string(seed)) {
		t.Errorf("%q, %q, status %d", out, errs, status)
	}
}

// A program whose embedded server listens, and what weirq needs to use that: the file of the program, the seed of an NKey, or certificates.
func TestTheServerOfAProgramThatListens(t *testing.T) {
	_, key, seed := keys(t, nkeys.CreateUser)
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		noError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	users := file("users", "# of a test\nops:s3cret: word\n"+key+"\n")
	seeds, wrong, broken := file("seed", string(seed)+"\n"), file("wrong", "ops:s3cret"), file("broken", "SUs3cret")
	ca, cert, certKey := certificates(t, dir)
	pair, err := tls.LoadX509KeyPair(cert, certKey)
	noError(t, err)
	authorities := x509.NewCertPool()
	text, err := os.ReadFile(ca)
	noError(t, err)
	authorities.AppendCertsFromPEM(text)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	program := func(access ...weirnats.Access) string {
		q, err := weirnats.Open[int](t.Context(), "numbers", options(weirnats.Dir(t.TempDir()), weirnats.Listen("127.0.0.1:0", access...))...)
		noError(t, err)
		t.Cleanup(func() { noError(t, q.Close()) })
		noError(t, q.Put(t.Context(), 7))
		return q.Addr().String()
	}
	plain, secure := "nats://"+program(weirnats.Credentials(users)), "tls://"+program(weirnats.TLS(config))
	for _, c := range []struct {
		args []string
		errs string
	}{
		{[]string{"--server", plain, "--creds", users}, ""},
		{[]string{"--server", plain, "--creds", seeds}, ""},
		{[]string{"--server", plain}, "weirq: connect: nats: Authorization Violation\n"},
		{[]string{"--server", plain, "--creds", wrong}, "weirq: connect: nats: Authorization Violation\n"},
		{[]string{"--server", plain, "--creds", broken}, "weirq: --creds: " + broken + " has no seed of a user that can be read\n"},
		{[]string{"--server", secure, "--ca", ca, "--cert", cert, "--key", certKey}, ""},
		{[]string{"--server", secure, "--cert", cert, "--key", certKey}, "weirq: connect: "},
		{[]string{"--server", secure, "--ca", ca}, "weirq: "},
		{[]string{"--server", secure, "--ca", ca, "--cert", cert}, "weirq: --cert and --key need each other; "},
		{[]string{"--server", secure, "--ca", users, "--cert", cert, "--key", certKey}, "weirq: connect: "},
		{[]string{"--ca", ca}, "weirq: --ca is meaningful only with --server; "},
	} {
		out, errs, status := weirq(t, append([]string{"peek", "numbers"}, c.args...)...)
		if good := c.errs == ""; strings.Contains(out, "\n    7\n") != good || (status == 0) != good || !strings.HasPrefix(errs, c.errs) || good && errs != "" || strings.Contains(errs, "s3cret") {
			t.Errorf("%q: %q, %q, status %d", c.args, out, errs, status)
		}
	}
}

// certificates returns the files of an authority, and of a certificate for this machine as a server and as a client.
func certificates(t *testing.T, dir string) (ca, cert, certKey string) {
	t.Helper()
	ca, cert, certKey = filepath.Join(dir, "ca"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	write := func(file, kind string, der []byte) {
		noError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	noError(t, err)
	write(ca, "CERTIFICATE", der)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, &key.PublicKey, authorityKey)
	noError(t, err)
	write(cert, "CERTIFICATE", der)
	der, err = x509.MarshalPKCS8PrivateKey(key)
	noError(t, err)
	write(certKey, "PRIVATE KEY", der)
	return ca, cert, certKey
}
