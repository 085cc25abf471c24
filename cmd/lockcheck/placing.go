package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/clusters"
	"lockcheck/clusters/docker"
)

// onThisMachine is the name of the provider that runs processes of this machine.
const onThisMachine = "local"

// bound is a flag that means something to one provider only.
type bound struct {
	flag     string
	given    func(runFlags) bool
	provider string
	instead  string // what to do about it at another provider
}

var boundFlags = []bound{
	{"server-bin", func(f runFlags) bool { return f.where.places.Bin != "" }, onThisMachine, "containers take their servers from an image: name it with --image"},
	{"server-jar", func(f runFlags) bool { return f.where.places.Jar != "" }, onThisMachine, "containers take their servers from an image: name it with --image"},
	{"client", func(f runFlags) bool { return isProgram(f.client) }, onThisMachine, "containers do not have this machine's programs: take a lock client that comes with the backend"},
	{"image", func(f runFlags) bool { return f.where.image != "" }, docker.Name, "servers of this machine are named with --server-bin"},
}

// place lets flags that mean something to one provider only choose it where the choice is open, and refuses them where
// another was chosen: ignored, they would make a run of something else than was asked for.
func (f *runFlags) place() error {
	var because string
	for _, b := range boundFlags {
		switch {
		case !b.given(*f):
		case f.where.provider == auto:
			f.where.provider, because = b.provider, "--"+b.flag+" asks for"
		case f.where.provider != b.provider && because != "":
			return fmt.Errorf("%s --provider=%s, and --%s for --provider=%s: leave one of them out", because, f.where.provider, b.flag, b.provider)
		case f.where.provider != b.provider:
			return fmt.Errorf("--%s is for --provider=%s, not for %s: %s, or use --provider=%s", b.flag, b.provider, f.where.provider, b.instead, b.provider)
		}
	}
	return nil
}

// unbind takes away, where a run is made again at another provider, what only the first one understood.
func unbind(flags *pflag.FlagSet, provider string, given *pflag.FlagSet) (errs []error) {
	for _, b := range boundFlags {
		if b.provider != provider && b.flag != "client" && !given.Changed(b.flag) {
			errs = append(errs, flags.Set(b.flag, ""))
		}
	}
	return errs
}

// checkPlaces refuses places of server programs that the backend has no use for.
func checkPlaces(software clusters.Software, places clusters.Places) error {
	switch {
	case places.Bin != "" && software.OnMachine == nil:
		return fmt.Errorf("--server-bin: %s's server is built into lockcheck; another is for --provider=docker with --image", software.Backend)
	case places.Jar != "" && !software.Jars:
		return fmt.Errorf("--server-jar: %s's server has no jar; it is for zookeeper", software.Backend)
	}
	return nil
}

// isProgram tells whether a lock client is a program of the user's own, named by its path or with arguments; no built-in
// name has a slash or a space in it.
func isProgram(client string) bool { return strings.ContainsAny(strings.TrimSpace(client), "/ ") }
