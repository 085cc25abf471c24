package harness

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"lockcheck/clusters/disk"
	"lockcheck/clusters/docker"
	"lockcheck/clusters/docker/sandbox"
	"lockcheck/clusters/local"
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

// nodeRunner is a backend whose servers are this program run again.
type nodeRunner interface {
	// RunNode is one server: it serves until ctx is done. The error says why it could not.
	RunNode(ctx context.Context, args []string) error
}

func runNode(ctx context.Context, args []string) error {
	var names []string
	for _, backend := range Backends {
		runner, ok := backend.(nodeRunner)
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
