// Odd is etcd's own recipe as a lock client, but for one odd thing that it does each time it is asked for a lock. Its argument
// says what, and from which time on.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/client"
)

func main() {
	from, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	var out io.Writer = os.Stdout // which Serve keeps for itself
	if os.Args[1] == "hang" {
		out = printer{}
	}
	err = client.Serve(context.Background(), os.Stdin, out, func(ctx context.Context, init client.Init, watch client.Watch) (client.Lock, client.Ready, error) {
		lock, ready, err := etcd.Concurrency(ctx, init, watch)
		return &odd{Lock: lock, does: os.Args[1], from: int64(from)}, ready, err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hangFor is for how long a client hangs: longer than any bound.
const hangFor = 45 * time.Second

// printing is held while the client hangs: it prints nothing then, and its library goes on.
var printing sync.Mutex

type printer struct{}

func (printer) Write(line []byte) (int, error) {
	printing.Lock()
	defer printing.Unlock()
	return os.Stdout.Write(line)
}

type odd struct {
	client.Lock
	does  string
	from  int64
	asked atomic.Int64
}

func (o *odd) Acquire(ctx context.Context, key string, try bool) (client.Grant, error) {
	switch n := o.asked.Add(1); {
	case o.does == "hang":
		if n == o.from {
			printing.Lock()
			time.AfterFunc(hangFor, printing.Unlock)
		}
	case n >= o.from:
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
