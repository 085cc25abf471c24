// Odd is etcd's own recipe as a lock client, but for one odd thing that it does each time it is asked for a lock. Its argument
// says what, and from which time on.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/client"
)

func main() {
	from, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	err = client.Serve(context.Background(), os.Stdin, os.Stdout, func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		lock, ready, err := etcd.Concurrency(ctx, init, watch)
		return &odd{Lock: lock, does: os.Args[1], from: int64(from)}, ready, err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type odd struct {
	client.Lock
	does  string
	from  int64
	asked atomic.Int64
}

func (o *odd) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	if o.asked.Add(1) >= o.from {
		o.act()
	}
	return o.Lock.Acquire(ctx, key, try)
}

func (o *odd) act() {
	switch o.does {
	case "panic":
		var locks map[string]int
		locks["none"]++
	case "exit":
		fmt.Fprintln(os.Stderr, "no such tenant\ngiving up")
		os.Exit(3)
	case "print":
		fmt.Println("asked for a lock")
		_, _ = unix.Write(1, []byte("asked for a lock, past Go's own library\n")) // as a library in C does
	}
}
