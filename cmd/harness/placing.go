package harness

import (
	"fmt"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/docker"
)

// bound is an option that means something to one provider only.
type bound struct {
	flag     string
	given    func(Options) bool
	provider string
	instead  string // what to do about it at another provider
}

var boundFlags = []bound{
	{"server-bin", func(o Options) bool { return o.Where.Places.Bin != "" }, Local, "containers take their servers from an image: name it with --image"},
	{"server-jar", func(o Options) bool { return o.Where.Places.Jar != "" }, Local, "containers take their servers from an image: name it with --image"},
	{"client", func(o Options) bool { return isProgram(o.Client) }, Local, "containers do not have this machine's programs: take a lock client that comes with the backend"},
	{"image", func(o Options) bool { return o.Where.Image != "" }, docker.Name, "servers of this machine are named with --server-bin"},
}

// place lets options that mean something to one provider only choose it where the choice is open, and refuses them where
// another was chosen: ignored, they would make a run of something else than was asked for.
func (o *Options) place() error {
	var because string
	for _, b := range boundFlags {
		switch {
		case !b.given(*o):
		case o.Where.Provider == Auto:
			o.Where.Provider, because = b.provider, "--"+b.flag+" asks for"
		case o.Where.Provider != b.provider && because != "":
			return Usage(fmt.Errorf("%s --provider=%s, and --%s for --provider=%s: leave one of them out", because, o.Where.Provider, b.flag, b.provider))
		case o.Where.Provider != b.provider:
			return Usage(fmt.Errorf("--%s is for --provider=%s, not for %s: %s, or use --provider=%s", b.flag, b.provider, o.Where.Provider, b.instead, b.provider))
		}
	}
	return nil
}

// PlacesUnknownTo are the flags that name a place which that provider does not understand.
func PlacesUnknownTo(provider string) (flags []string) {
	for _, b := range boundFlags {
		if b.provider != provider && b.flag != "client" {
			flags = append(flags, b.flag)
		}
	}
	return flags
}

// checkPlaces refuses places of server programs that the backend has no use for.
func checkPlaces(software clusters.Software, places clusters.Places) error {
	switch {
	case places.Bin != "" && software.OnMachine == nil:
		return Usage(fmt.Errorf("--server-bin: %s's server is built into lockcheck; another is for --provider=docker with --image", software.Backend))
	case places.Jar != "" && !software.Jars:
		return Usage(fmt.Errorf("--server-jar: %s's server has no jar; it is for zookeeper", software.Backend))
	}
	return nil
}

// isProgram tells whether a lock client is a program of the user's own, named by its path or with arguments; no built-in
// name has a slash or a space in it.
func isProgram(client string) bool { return strings.ContainsAny(strings.TrimSpace(client), "/ ") }
