package embed

import (
	"crypto/tls"
	"slices"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Listen says where a server listens, and which clients may connect.
type Listen struct {
	Host string
	Port int
	// TLS encrypts connections, unless it is nil.
	TLS *tls.Config
	// Users and Keys are the clients that may connect. If there are none, TLS alone says which may.
	Users []User
	Keys  []string // public NKeys
}

// User is the name of a client with its password.
type User struct{ Name, Password string }

func (l *Listen) equal(other *Listen) bool {
	if l == nil || other == nil {
		return l == other
	}
	return l.Host == other.Host && l.Port == other.Port && l.TLS == other.TLS && slices.Equal(l.Users, other.Users) && slices.Equal(l.Keys, other.Keys)
}

// apply sets the options of a server. It returns those with which this process itself logs in. Where others
// need credentials, this process has a key of its own, which nothing else inside or outside the process
// knows.
func (l *Listen) apply(to *server.Options) ([]nats.Option, error) {
	to.DontListen = false
	to.Host, to.Port = l.Host, l.Port
	if l.Port == 0 {
		to.Port = server.RANDOM_PORT
	}
	if l.TLS != nil {
		to.TLSConfig = l.TLS.Clone()
	}
	if len(l.Users) == 0 && len(l.Keys) == 0 {
		return nil, nil
	}
	for _, u := range l.Users {
		to.Users = append(to.Users, &server.User{Username: u.Name, Password: u.Password})
	}
	for _, k := range l.Keys {
		to.Nkeys = append(to.Nkeys, &server.NkeyUser{Nkey: k})
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	to.Nkeys = append(to.Nkeys, &server.NkeyUser{Nkey: key, AllowedConnectionTypes: map[string]struct{}{jwt.ConnectionTypeInProcess: {}}})
	return []nats.Option{nats.Nkey(key, pair.Sign)}, nil
}
