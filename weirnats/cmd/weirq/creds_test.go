package main

import (
	"bytes"
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
