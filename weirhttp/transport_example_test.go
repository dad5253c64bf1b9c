package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/64ed045f/weir/weirhttp"
)

func ExampleTransport() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()

	// At most 8 requests to one host at once; one more waits, if fewer than 100 do.
	client := &http.Client{Transport: &weirhttp.Transport{PerHost: 8, Queue: 100}}
	defer client.CloseIdleConnections()

	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Do(r)
	switch {
	case errors.Is(err, weirhttp.ErrOverloaded):
		fmt.Println("come again later")
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	// Until then the request is under way, and holds its slot.
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Printf("%q %v", body, err)
	// Output: "404 page not found\n" <nil>
}

// With a Queue below 0 no request waits: a caller that finds no slot free learns it at once.
func ExampleTransport_RoundTrip() {
	transport := &weirhttp.Transport{
		PerHost: 1,
		Queue:   -1,
		Base:    http.NewFileTransport(http.Dir(".")),
	}
	client := &http.Client{Transport: transport}

	first, err := client.Get("http://files/")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Get("http://files/")
	fmt.Println(errors.Is(err, weirhttp.ErrOverloaded))

	err = first.Body.Close() // makes room
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}
