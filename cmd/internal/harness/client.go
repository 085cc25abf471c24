package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
)

// added are the lock clients of the program's own, for any backend.
var added []clusters.LockClient

// AddClient makes a lock client of the program's own one that runs can name, with any backend. It is called before
// anything else, and in every process of the program alike. Names of clients that come with a backend are taken.
func AddClient(c clusters.LockClient) error {
	switch {
	case c.Name == "" || isProgram(c.Name):
		return fmt.Errorf("the name of a lock client is a word without slashes and spaces, not %q", c.Name)
	case c.New == nil:
		return fmt.Errorf("the lock client %s has nothing that makes it", c.Name)
	}
	has := func(list []clusters.LockClient) bool {
		return slices.ContainsFunc(list, func(other clusters.LockClient) bool { return other.Name == c.Name })
	}
	for _, b := range Backends {
		if has(b.Clients()) {
			return fmt.Errorf("%s has a lock client %s of its own; choose another name", b.Name(), c.Name)
		}
	}
	if has(added) {
		return fmt.Errorf("there are two lock clients called %s", c.Name)
	}
	added = append(added, c)
	return nil
}

// runClient is one lock client: BACKEND [NAME]. The harness starts it, and speaks with it over its standard input and
// output (clusters/client/README.md).
func runClient(ctx context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return Usage(fmt.Errorf("client takes BACKEND [NAME], not %q", args))
	}
	backend, err := backendNamed(args[0])
	if err != nil {
		return Usage(err)
	}
	lockClient, err := clientNamed(backend, append(args, "")[1])
	if err != nil {
		return Usage(err)
	}
	if lockClient.New == nil {
		return Usage(fmt.Errorf("the lock client %s of %s is a program of its own", lockClient.Name, backend.Name()))
	}
	err = client.Serve(ctx, os.Stdin, os.Stdout, lockClient.New)
	switch {
	case errors.Is(err, client.ErrProtocol):
		return Usage(err)
	case err != nil:
		return fmt.Errorf("client %s of %s: %w", lockClient.Name, backend.Name(), err)
	}
	return nil
}
