package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/provider/disk"
	"lockcheck/clusters/provider/docker"
	"lockcheck/clusters/provider/docker/sandbox"
	"lockcheck/clusters/provider/local"
	"lockcheck/nemesis/agent"
)

// Role is what this program is when a run starts it again as one of its processes: `lockcheck NAME ARGUMENT...`.
type Role struct {
	Name, About string
	Run         func(ctx context.Context, args []string) error
}

// Roles is the table of them. A program that makes runs hands its arguments to the role that the first one names.
var Roles = []Role{
	{"node", "Be one server of a backend", runNode},
	{"client", "Be one lock client", runClient},
	{"resource", "Be the protected resource", runResource},
	{agent.Command, "Carry faults out on a host", func(context.Context, []string) error { return agent.Serve(os.Stdin, os.Stdout) }},
	{disk.Command, "Be the disk of a host", func(_ context.Context, args []string) error { return disk.Serve(args, os.Stdin, os.Stdout) }},
	{sandbox.Command, "Hold a host's namespaces and start its processes", func(context.Context, []string) error { return sandbox.Main() }},
	{sandbox.EnterCommand, "Become the program of a lock client's image", sandbox.Enter},
	{sandbox.WipeCommand, "Remove a server's data", func(_ context.Context, args []string) error { return sandbox.Wipe(args) }},
	{docker.JanitorCommand, "Remove what a run in containers left", func(_ context.Context, args []string) error { return docker.Janitor(args) }},
	{local.JanitorCommand, "Clean up behind a run", func(_ context.Context, args []string) error { return local.Janitor(args) }},
}

func runNode(ctx context.Context, args []string) error {
	var names []string
	for _, backend := range Backends {
		runner, ok := backend.(clusters.NodeRunner)
		switch {
		case !ok:
		case len(args) > 0 && backend.Name() == args[0]:
			ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return runner.RunNode(ctx, args[1:])
		default:
			names = append(names, backend.Name())
		}
	}
	return Usage(fmt.Errorf("node takes one of %s, and what its server needs; not %q", strings.Join(names, ", "), args))
}

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
