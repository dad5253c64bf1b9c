package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"

	"github.com/64ed045f/weir/lab/internal/child"
)

// A program is a server in a process of its own.
type program struct {
	name string
	// find returns the path of the program, or an error if it is not there.
	find func() (string, error)
	// word stands before the version in what the program says of itself.
	word string
	// start starts the server, with its files and its socket in a new folder, and waits until the server answers.
	start func(ctx context.Context, folder string, always bool) (*process, error)
}

// process is a running program.
type process struct {
	cmd   *exec.Cmd
	said  bytes.Buffer // its output, to be read when it has ended
	ended chan struct{}
	end   os.Signal // the signal that ends it
}

// startProcess starts a server, and waits until it is ready.
func startProcess(ctx context.Context, cmd *exec.Cmd, end os.Signal, ready func(context.Context) error) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{}), end: end}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &p.said, &p.said, time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // the error says only that the process was killed
		close(p.ended)
	}()
	for {
		err := ready(ctx)
		if err == nil {
			return p, nil
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s has ended: %s", cmd.Path, p.said.String())
		case <-ctx.Done():
			p.stop()
			return nil, fmt.Errorf("%s does not answer: %w", cmd.Path, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// stop ends the process, which need not save its data.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(p.end) // an error means that the process has ended already
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// version returns the program's version, or an error if the program is not there.
func (p program) version() (string, error) {
	path, err := p.find()
	if err != nil {
		return "", err
	}
	text, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", err
	}
	_, after, _ := strings.Cut(string(text), p.word)
	found, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return cmp.Or(found, "unknown"), nil
}

// Redis.

var redis = program{
	name:  "redis-server",
	find:  func() (string, error) { return exec.LookPath("redis-server") },
	word:  "v=",
	start: startRedis,
}

func redisAddress(folder string) asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Network: "unix", Addr: filepath.Join(folder, "redis.sock"), PoolSize: places}
}

func startRedis(ctx context.Context, folder string, always bool) (*process, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	fsync := "everysec"
	if always {
		fsync = "always"
	}
	to := redisAddress(folder)
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", to.Addr, "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", fsync)
	child.Apart(cmd)
	client := asynq.NewClient(to)
	defer client.Close()
	return startProcess(ctx, cmd, syscall.SIGTERM, func(context.Context) error { return client.Ping() })
}

// PostgreSQL.

var postgres = program{
	name:  "postgres",
	find:  func() (string, error) { return postgresPath("postgres") },
	word:  "(PostgreSQL) ",
	start: startPostgres,
}

// postgresPath finds a program of PostgreSQL, also in Debian's folder, which is not in PATH.
func postgresPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is valid
	if len(found) == 0 {
		return "", err
	}
	return slices.Max(found), nil
}

func postgresAddress(folder string) string {
	return "host=" + folder + " user=river dbname=postgres"
}

// postgresCommand returns the command of a program of PostgreSQL, in a process group of its own. If this process is root, it runs as
// another user, as PostgreSQL requires, and the folder is given to that user.
func postgresCommand(folder, name string, args ...string) (*exec.Cmd, error) {
	path, err := postgresPath(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append([]string{"-D", filepath.Join(folder, "data")}, args...)...)
	if os.Geteuid() == 0 {
		if err := exec.Command("chown", "nobody", folder).Run(); err != nil {
			return nil, err
		}
		cmd = exec.Command("setpriv", append([]string{"--reuid=nobody"}, cmd.Args...)...)
		cmd.Dir = folder
	}
	child.Apart(cmd)
	return cmd, nil
}

// startPostgres makes an empty database in the folder "data" of the new folder first.
func startPostgres(ctx context.Context, folder string, always bool) (*process, error) {
	if err := os.Mkdir(folder, 0o711); err != nil {
		return nil, err
	}
	cmd, err := postgresCommand(folder, "initdb", "-U", "river", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return nil, err
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, text)
	}
	commit := "off"
	if always {
		commit = "on"
	}
	cmd, err = postgresCommand(folder, "postgres", "-k", folder, "-c", "listen_addresses=", "-c", "synchronous_commit="+commit)
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, cmd, syscall.SIGQUIT, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, postgresAddress(folder))
		if err != nil {
			return err
		}
		return errors.Join(conn.Ping(ctx), conn.Close(ctx))
	})
}
