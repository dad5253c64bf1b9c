package reuse_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/64ed045f/weir/reuse"
)

// session stands for a connection to a server.
type session struct{ number int }

func (s *session) ask(question string) string {
	return fmt.Sprintf("session %d: %s!", s.number, question)
}

// dialer returns a function that opens sessions, numbered from 1.
func dialer() func(context.Context) (*session, error) {
	opened := 0
	return func(context.Context) (*session, error) {
		opened++
		return &session{opened}, nil
	}
}

func ExampleNewKeeper() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{
		Capacity:    8,
		Open:        dialer(),
		Close:       func(s *session) { fmt.Println("closed", s.number) },
		IdleTimeout: 5 * time.Minute,
		Lifetime:    time.Hour,
		Check:       func(_ context.Context, s *session) error { return nil /* for example a ping */ },
		CheckAfter:  time.Second,
		Name:        "sessions",
	})
	defer sessions.Close()

	err := sessions.Use(context.Background(), func(s *session) error {
		fmt.Println(s.ask("hello"))
		return nil
	})
	fmt.Println(err)
	// Output:
	// session 1: hello!
	// <nil>
	// closed 1
}

func ExampleKeeper_Get() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 2, Open: dialer()})
	defer sessions.Close()

	for range 3 {
		lease, err := sessions.Get(context.Background())
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println(lease.Value().ask("hello")) // always the one that was used last
		lease.Put()
	}
	// Output:
	// session 1: hello!
	// session 1: hello!
	// session 1: hello!
}

func ExampleKeeper_Get_timeout() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	defer sessions.Close()
	only, err := sessions.Get(context.Background())
	if err != nil {
		log.Print(err)
		return
	}
	defer only.Put()

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = sessions.Get(ctx)
	fmt.Println(err)
	// Output: context deadline exceeded
}

func ExampleKeeper_TryGet() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	defer sessions.Close()
	only, err := sessions.Get(context.Background())
	if err != nil {
		log.Print(err)
		return
	}

	_, err = sessions.TryGet()
	fmt.Println(errors.Is(err, reuse.ErrNoneIdle), err)
	only.Put()
	again, err := sessions.TryGet()
	if err == nil {
		fmt.Println(again.Value().ask("hello"))
		again.Put()
	}
	// Output:
	// true reuse: no object is idle
	// session 1: hello!
}

func ExampleKeeper_Use() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	defer sessions.Close()
	errNoRows, errCutOff := errors.New("no rows"), errors.New("cut off")

	for _, result := range []error{errNoRows, reuse.Broken(errCutOff), nil} {
		err := sessions.Use(context.Background(), func(s *session) error {
			fmt.Println("session", s.number)
			return result
		})
		fmt.Println(err)
	}
	// Output:
	// session 1
	// no rows
	// session 1
	// cut off
	// session 2
	// <nil>
}

func ExampleBroken() {
	errCutOff := errors.New("cut off")
	err := fmt.Errorf("asking: %w", reuse.Broken(errCutOff))
	fmt.Println(err, errors.Is(err, errCutOff))
	// Output: asking: cut off true
}

func ExampleKeeper_Close() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{
		Capacity: 1,
		Open:     dialer(),
		Close:    func(s *session) { fmt.Println("closed", s.number) },
	})
	lease, err := sessions.Get(context.Background())
	if err != nil {
		log.Print(err)
		return
	}
	lease.Put()

	sessions.Close()
	_, err = sessions.Get(context.Background())
	fmt.Println(errors.Is(err, reuse.ErrClosed), err)
	// Output:
	// closed 1
	// true reuse: keeper is closed
}

func ExampleKeeper_Shutdown() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	lease, err := sessions.Get(context.Background())
	if err != nil {
		log.Print(err)
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(sessions.Shutdown(ctx), sessions.Stats().Leased)
	lease.Put() // closes the session
	fmt.Println(sessions.Shutdown(context.Background()))
	// Output:
	// context deadline exceeded 1
	// <nil>
}

func ExampleKeeper_Reset() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	defer sessions.Close()
	greet := func(s *session) error {
		fmt.Println(s.ask("hello"))
		return nil
	}
	fmt.Println(sessions.Use(context.Background(), greet))
	sessions.Reset() // the server has been started anew
	fmt.Println(sessions.Use(context.Background(), greet))
	// Output:
	// session 1: hello!
	// <nil>
	// session 2: hello!
	// <nil>
}

func ExampleKeeper_Stats() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 4, Open: dialer()})
	defer sessions.Close()
	lease, err := sessions.Get(context.Background())
	if err != nil {
		log.Print(err)
		return
	}
	defer lease.Put()
	s := sessions.Stats()
	fmt.Println(s.Leased, "of", s.Capacity, "leased,", s.Opened, "opened")
	// Output: 1 of 4 leased, 1 opened
}

// leaseOne leases a session for the examples that follow.
func leaseOne(sessions *reuse.Keeper[*session]) reuse.Lease[*session] {
	lease, err := sessions.Get(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	return lease
}

func ExampleLease_Value() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	lease := leaseOne(sessions)
	fmt.Println(lease.Value().ask("hello"))
	lease.Put()

	defer func() { fmt.Println(recover()) }()
	lease.Value()
	// Output:
	// session 1: hello!
	// reuse: lease must not be used after Put, Discard or Detach
}

func ExampleLease_Put() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{Capacity: 1, Open: dialer()})
	lease := leaseOne(sessions)
	lease.Put()
	fmt.Println(sessions.Stats().Idle)
	// Output: 1
}

func ExampleLease_Discard() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{
		Capacity: 1,
		Open:     dialer(),
		Close:    func(s *session) { fmt.Println("closed", s.number) },
	})
	leaseOne(sessions).Discard()
	sessions.Close() // waits until it is closed
	// Output: closed 1
}

func ExampleLease_Detach() {
	sessions := reuse.NewKeeper(reuse.KeeperConfig[*session]{
		Capacity: 1,
		Open:     dialer(),
		Close:    func(s *session) { fmt.Println("closed", s.number) },
	})
	mine := leaseOne(sessions).Detach()
	sessions.Close()
	fmt.Println(mine.ask("still there"))
	// Output: session 1: still there!
}
