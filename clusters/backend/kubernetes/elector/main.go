// Command elector is client-go's leader election on a Lease as a lock client: to acquire is to run an elector until it leads, to
// release is to cancel it. Others run it inside a manager of controller-runtime.
//
// It is a module of its own: its client-go comes with every API group of Kubernetes, and is another version than lockcheck's own.
//
//	elector leaderelection | no-release | manager | manager-slow-exit
package main

import (
	"context"
	"fmt"
	"os"

	"lockcheck/clusters/client"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("elector takes the name of one variant, not %q", args)
	}
	factory, ok := factories[args[0]]
	if !ok {
		return fmt.Errorf("elector has no variant %q", args[0])
	}
	return client.Serve(context.Background(), os.Stdin, os.Stdout, factory)
}
