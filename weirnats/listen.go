package weirnats

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/64ed045f/weir/weirnats/internal/embed"
)

// Listen makes the embedded server listen at addr, such as "10.0.0.5:4222", for other processes, which use
// the queues of the folder by [Server]. Without a host it listens on all addresses of the machine. With port
// 0 it takes a free port: see [Queue.Addr]. By default the server listens nowhere.
//
// Each process that connects, also from this machine, must prove that it may: by [Credentials], by a
// certificate, see [TLS], or by both if both are given. Without one of them Open returns an error. A process
// that may connect has all rights over all queues of the folder. Without TLS the traffic can be read on the
// way.
//
// All queues that a process has open on one folder must have the same Listen. The server ends with the last
// of them; processes that use the server connect again when it is back.
func Listen(addr string, access ...Access) Option {
	must(addr != "", "address must not be empty", `""`)
	for _, a := range access {
		must(a != nil, "access must not be nil", "nil")
	}
	return option(func(o *options) { o.listen = &listenOptions{addr: addr, access: access} })
}

// Access says which processes may connect to an embedded server. [Credentials] and [TLS] make one.
type Access interface{ access(*embed.Listen) error }

type access func(*embed.Listen) error

func (a access) access(to *embed.Listen) error { return a(to) }

// Credentials lets processes connect that have a name and its password, or the private key to a public one.
// The file lists them, one a line:
//
//	# a comment
//	worker:correct horse battery staple
//	UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4
//
// A password may also be a hash, as "nats server passwd" makes it. The other kind of line is the public NKey
// of a user. Only the owner of the file may have access to it (mode 0600), except on Windows. Open reads the
// file. A process connects with [nats.UserInfo] or [nats.NkeyOptionFromSeed]. No password comes into an error
// or a log.
func Credentials(file string) Access {
	must(file != "", "file must not be empty", `""`)
	return access(func(to *embed.Listen) error { return readCredentials(file, to) })
}

// TLS encrypts all connections with the configuration, which must have a certificate of this server. With
// ClientAuth [tls.RequireAndVerifyClientCert], and ClientCAs, it lets processes connect that have a
// certificate of these authorities. Otherwise, or with GetConfigForClient, there must be [Credentials] as
// well. The configuration must not change afterwards. A process connects with [nats.RootCAs] and
// [nats.ClientCert].
func TLS(config *tls.Config) Access {
	must(config != nil, "configuration must not be nil", "nil")
	return access(func(to *embed.Listen) error {
		if len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
			return errors.New("the configuration of TLS has no certificate")
		}
		to.TLS = config
		return nil
	})
}

type listenOptions struct {
	addr   string
	access []Access
}

// listening returns the address at which the embedded server listens, and what its clients must show; nil if
// it does not listen.
func (o *options) listening() (*embed.Listen, error) {
	if o.listen == nil {
		return nil, nil
	}
	to := new(embed.Listen)
	if err := o.listen.fill(to); err != nil {
		return nil, fmt.Errorf("weirnats: Listen at %s: %w", o.listen.addr, err)
	}
	return to, nil
}

func (l *listenOptions) fill(to *embed.Listen) error {
	host, service, err := net.SplitHostPort(l.addr)
	if err != nil {
		return err
	}
	if to.Port, err = net.LookupPort("tcp", service); err != nil {
		return err
	}
	to.Host = host
	for _, a := range l.access {
		if err := a.access(to); err != nil {
			return err
		}
	}
	if len(to.Users) > 0 || len(to.Keys) > 0 {
		return nil
	}
	switch c := to.TLS; {
	case c == nil || c.ClientAuth != tls.RequireAndVerifyClientCert:
		return errors.New("any process could connect: use Credentials, or TLS with ClientAuth RequireAndVerifyClientCert")
	case c.ClientCAs == nil:
		return errors.New("any process with a certificate of a public authority could connect: set ClientCAs, or use Credentials as well")
	case c.GetConfigForClient != nil:
		return errors.New("any process could connect, as GetConfigForClient sets another configuration: use Credentials as well")
	}
	return nil
}

// readCredentials adds the credentials of a file. Its errors contain nothing from a line.
func readCredentials(file string, to *embed.Listen) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
		return fmt.Errorf("credentials: %s has mode %04o: others than its owner can use it; set 0600", file, mode.Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, mostCredentials))
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	names := make(map[string]bool)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		switch {
		case !ok && nkeys.IsValidPublicUserKey(line):
			name = line
			to.Keys = append(to.Keys, line)
		case ok && name != "" && password != "":
			to.Users = append(to.Users, embed.User{Name: name, Password: password})
		default:
			return fmt.Errorf("credentials: line %d of %s is neither a name, a colon and a password, nor the public NKey of a user", number, file)
		}
		if names[name] {
			return fmt.Errorf("credentials: line %d of %s has the name of an earlier one", number, file)
		}
		names[name] = true
	}
	if len(names) == 0 {
		return fmt.Errorf("credentials: there are none in %s", file)
	}
	return nil
}

// mostCredentials is how many bytes of a file of credentials are read.
const mostCredentials = 1 << 20

// Addr returns the address at which the embedded server of the queue listens: see [Listen]. It returns nil if
// the server does not listen.
func (q *Queue[T]) Addr() net.Addr {
	return q.untyped().addr
}
