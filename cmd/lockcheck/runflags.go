package main

import (
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/cmd/harness"
	"lockcheck/nemesis"
	"lockcheck/workloads"
)

// runFlags is what a user asks of a run, and how it is shown.
type runFlags struct {
	harness.Options
	json, quiet bool
}

// bind declares the flags of run, which plan has too.
func (f *runFlags) bind(flags *pflag.FlagSet) {
	usual := harness.Default()
	flags.StringVar(&f.Backend, "backend", usual.Backend, "the lock service: "+strings.Join(harness.BackendNames(), ", "))
	flags.StringVar(&f.Client, "client", usual.Client, "the lock client: one of the backend's (default: its first), or the path of a program that speaks the client protocol")
	flags.StringVar(&f.Workload, "workload", usual.Workload, "what clients do: "+strings.Join(workloads.Names(), ", "))
	flags.StringVar(&f.Nemesis, "nemesis", usual.Nemesis, "what disturbs them: "+strings.Join(nemesis.Names(), ", ")+"; with targets, triggers and magnitudes (lockcheck list)")
	flags.StringVar(&f.Guard, "guard", usual.Guard, "where clients look at their lock before they write: "+strings.Join(harness.Guards(), ", "))
	flags.StringVar(&f.Where.Provider, "provider", usual.Where.Provider, "where it runs: "+strings.Join(harness.ProviderNames(), ", ")+"; auto takes the first that can run the backend here")
	flags.StringVar(&f.Where.Places.Bin, "server-bin", "", "local: the server's program, or the directory it is in (default: PATH and the usual places)")
	flags.StringVar(&f.Where.Places.Jar, "server-jar", "", "local: ZooKeeper's jar, or the directory of its jars")
	flags.StringVar(&f.Where.Image, "image", "", "docker: the image of the servers (default: $LOCKCHECK_IMAGE_<BACKEND>, else the official one)")
	flags.IntVar(&f.Clients, "clients", usual.Clients, "lock clients, each a process of its own (2 to 100)")
	flags.IntVar(&f.Keys, "keys", usual.Keys, "locks (1 to 1000)")
	flags.IntVar(&f.Nodes, "nodes", usual.Nodes, "servers (default: the backend's usual number)")
	flags.DurationVar(&f.TTL, "ttl", usual.TTL, "time to live of a lease")
	flags.DurationVar(&f.TimeLimit, "time-limit", usual.TimeLimit, "how long clients work, before the final phase")
	flags.Int64Var(&f.Seed, "seed", usual.Seed, "of everything random (default: drawn, and printed)")
	flags.StringToStringVar(&f.Set, "set", nil, "override a server setting: `name=value`")
	flags.Lookup("set").DefValue = "" // pflag would show it as []
	flags.StringVar(&f.Out, "out", usual.Out, "directory for run directories")
	flags.BoolVar(&f.json, "json", false, "print results.json on standard output, and nothing else there")
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict only")
}
