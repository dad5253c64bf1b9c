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
)

// A program is a server in a process of its own.
type program struct {
	name string
	// find returns the version of the program, or an error if it is not there.
	find func() (string, error)
	// prepare makes in a new folder what start may begin with; nil if there is nothing to prepare.
	prepare func(ctx context.Context, folder string) error
	// start starts the server, which has its files and its socket in a new folder, and waits until it answers. prepared is what prepare has made, or "".
	start func(ctx context.Context, folder, prepared string, always bool) (*process, error)
}

// process is a program that runs.
type process struct {
	cmd   *exec.Cmd
	said  bytes.Buffer // to be read when it has ended
	ended chan struct{}
	end   os.Signal // ends it
}

// startProcess starts a server, and waits until it is ready.
func startProcess(ctx context.Context, cmd *exec.Cmd, end os.Signal, ready func(context.Context) error) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{}), end: end}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &p.said, &p.said, time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // that it was killed is no error
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

// stop ends the process, which need not save what it has.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(p.end) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// version is the word that the program says about its version after another one.
func version(path, before string) (string, error) {
	text, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", err
	}
	_, after, _ := strings.Cut(string(text), before)
	found, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return cmp.Or(found, "unknown"), nil
}

// Redis.

var redis = program{
	name: "redis-server",
	find: func() (string, error) {
		path, err := exec.LookPath("redis-server")
		if err != nil {
			return "", err
		}
		return version(path, "v=")
	},
	start: startRedis,
}

func redisAddress(folder string) asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Network: "unix", Addr: filepath.Join(folder, "redis.sock"), PoolSize: places}
}

func startRedis(ctx context.Context, folder, _ string, always bool) (*process, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	fsync := "everysec"
	if always {
		fsync = "always"
	}
	to := redisAddress(folder)
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", to.Addr, "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", fsync)
	apart(cmd)
	client := asynq.NewClient(to)
	defer client.Close()
	return startProcess(ctx, cmd, syscall.SIGTERM, func(context.Context) error { return client.Ping() })
}

// PostgreSQL.

var postgres = program{
	name: "postgres",
	find: func() (string, error) {
		path, err := postgresPath("postgres")
		if err != nil {
			return "", err
		}
		return version(path, "(PostgreSQL) ")
	},
	prepare: initPostgres,
	start:   startPostgres,
}

// postgresPath finds a program of PostgreSQL also where Debian has it, which is not in PATH.
func postgresPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is fine
	if len(found) == 0 {
		return "", err
	}
	return slices.Max(found), nil
}

func postgresAddress(folder string) string {
	return "host=" + folder + " user=river dbname=postgres"
}

// initPostgres makes an empty database in the folder "data" of a new folder.
func initPostgres(ctx context.Context, folder string) error {
	if err := os.Mkdir(folder, 0o711); err != nil {
		return err
	}
	path, err := postgresPath("initdb")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "-D", filepath.Join(folder, "data"), "-U", "river", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err := unprivileged(cmd, folder); err != nil {
		return err
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, text)
	}
	return nil
}

func startPostgres(ctx context.Context, folder, prepared string, always bool) (*process, error) {
	var err error
	if prepared == "" {
		err = initPostgres(ctx, folder)
	} else {
		err = exec.CommandContext(ctx, "cp", "-a", prepared, folder).Run()
	}
	if err != nil {
		return nil, err
	}
	commit := "off"
	if always {
		commit = "on"
	}
	path, err := postgresPath("postgres")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "-D", filepath.Join(folder, "data"), "-k", folder, "-c", "listen_addresses=", "-c", "synchronous_commit="+commit)
	if err := unprivileged(cmd, folder); err != nil {
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
