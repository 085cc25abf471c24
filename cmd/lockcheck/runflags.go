package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/nemesis"
	"lockcheck/workloads"
	"lockcheck/workloads/client"
)

// runFlags is what a user asks of a run.
type runFlags struct {
	backend, client, workload, nemesis, guard, out string
	where                                          where
	clients, keys, nodes                           int
	ttl, limit                                     time.Duration
	seed                                           int64
	set                                            map[string]string
	json, quiet                                    bool
}

// bind declares the flags of run, which plan has too.
func (f *runFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.backend, "backend", "", "the lock service: "+strings.Join(backendNames(), ", "))
	flags.StringVar(&f.client, "client", "", "the lock client: one of the backend's (default: its first), or the path of a program that speaks the client protocol")
	flags.StringVar(&f.workload, "workload", "lock", "what clients do: "+strings.Join(workloads.Names(), ", "))
	flags.StringVar(&f.nemesis, "nemesis", "none", "what disturbs them: "+strings.Join(nemesis.Names(), ", ")+"; with targets, triggers and magnitudes (lockcheck list)")
	flags.StringVar(&f.guard, "guard", string(client.GuardBeforeWork), "where clients look at their lock before they write: "+strings.Join(guards(), ", "))
	flags.StringVar(&f.where.provider, "provider", auto, "where it runs: "+strings.Join(providerNames(), ", ")+"; auto takes the first that can run the backend here")
	flags.StringVar(&f.where.places.Bin, "server-bin", "", "local: the server's program, or the directory it is in (default: PATH and the usual places)")
	flags.StringVar(&f.where.places.Jar, "server-jar", "", "local: ZooKeeper's jar, or the directory of its jars")
	flags.StringVar(&f.where.image, "image", "", "docker: the image of the servers (default: $LOCKCHECK_IMAGE_<BACKEND>, else the official one)")
	flags.IntVar(&f.clients, "clients", 5, "lock clients, each a process of its own (2 to 100)")
	flags.IntVar(&f.keys, "keys", 1, "locks (1 to 1000)")
	flags.IntVar(&f.nodes, "nodes", 0, "servers (default: the backend's usual number)")
	flags.DurationVar(&f.ttl, "ttl", 2*time.Second, "time to live of a lease")
	flags.DurationVar(&f.limit, "time-limit", 30*time.Second, "how long clients work, before the final phase")
	flags.Int64Var(&f.seed, "seed", 0, "of everything random (default: drawn, and printed)")
	flags.StringToStringVar(&f.set, "set", nil, "override a server setting: name=value")
	flags.StringVar(&f.out, "out", "lockcheck-out", "directory for run directories")
	flags.BoolVar(&f.json, "json", false, "print results.json on standard output, and nothing else there")
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict only")
}

func guards() []string {
	return []string{string(client.GuardNone), string(client.GuardBeforeWork), string(client.GuardBeforeWrite)}
}

// check finds what cannot be before anything is started.
func (f *runFlags) check() error {
	switch {
	case f.backend == "":
		return fmt.Errorf("--backend is missing; there are: %s", strings.Join(backendNames(), ", "))
	case !slices.Contains(guards(), f.guard):
		return fmt.Errorf("--guard: there is no guard %q; there are: %s", f.guard, strings.Join(guards(), ", "))
	case !slices.Contains(providerNames(), f.where.provider):
		return fmt.Errorf("--provider: there is no provider %q; there are: %s", f.where.provider, strings.Join(providerNames(), ", "))
	case f.clients < 2 || f.clients > 100:
		return fmt.Errorf("--clients=%d: use 2 to 100; one client alone contends with nobody", f.clients)
	case f.keys < 1 || f.keys > 1000:
		return fmt.Errorf("--keys=%d: use 1 to 1000", f.keys)
	case f.limit < time.Second || f.limit > 24*time.Hour:
		return fmt.Errorf("--time-limit=%v: use 1s to 24h", f.limit)
	case f.ttl <= 0:
		return fmt.Errorf("--ttl=%v: a lease has to last", f.ttl)
	}
	return f.place()
}

// again is the command that makes this run once more.
func (f runFlags) again(lockClient string) []string {
	command := []string{
		"lockcheck", "run", "--backend=" + f.backend, "--client=" + lockClient, "--workload=" + f.workload,
		"--nemesis=" + f.nemesis, "--guard=" + f.guard, "--provider=" + f.where.provider, fmt.Sprintf("--clients=%d", f.clients),
		fmt.Sprintf("--keys=%d", f.keys), "--ttl=" + f.ttl.String(), "--time-limit=" + f.limit.String(),
		fmt.Sprintf("--seed=%d", f.seed),
	}
	if f.nodes != 0 {
		command = append(command, fmt.Sprintf("--nodes=%d", f.nodes))
	}
	for _, more := range [][2]string{{"server-bin", f.where.places.Bin}, {"server-jar", f.where.places.Jar}, {"image", f.where.image}} {
		if more[1] != "" {
			command = append(command, "--"+more[0]+"="+more[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.set)) {
		command = append(command, "--set="+name+"="+f.set[name])
	}
	return command
}
