package harness

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// place lets options that mean something to one provider only choose it where the choice is open, and refuses them where
// another was chosen: ignored, they would make a run of something else than was asked for.
func (o *Options) place() error {
	var because string
	for _, f := range Flags {
		switch {
		case !f.bound(*o):
		case o.Where.Provider == Auto:
			o.Where.Provider, because = f.Provider, "--"+f.Name+" asks for"
		case o.Where.Provider != f.Provider && because != "":
			return Usage(fmt.Errorf("%s %s, and --%s for %s: leave one of them out", because, chooses(o.Where.Provider), f.Name, chooses(f.Provider)))
		case o.Where.Provider != f.Provider:
			return Usage(fmt.Errorf("--%s is for %s, not for %s: %s, or use %s", f.Name, chooses(f.Provider), o.Where.Provider, f.Instead, chooses(f.Provider)))
		}
	}
	return nil
}

// chooses is what chooses a provider on the command line.
func chooses(provider string) string { return "--" + clusters.FlagProvider + "=" + provider }

// PlacesUnknownTo are the flags that name a place which that provider does not understand.
func PlacesUnknownTo(provider string) (flags []string) {
	for _, f := range Flags {
		if f.PlaceOfOneProvider() && f.Provider != provider {
			flags = append(flags, f.Name)
		}
	}
	return flags
}

// checkServerPaths refuses places of server programs that the backend has no use for.
func checkServerPaths(software clusters.Software, places clusters.ServerPaths) error {
	if places.Jar != "" && !software.Jars {
		return Usage(fmt.Errorf("--%s: %s's server has no jar; it is for zookeeper", clusters.FlagServerJar, software.Backend))
	}
	return nil
}

// ProgramPattern is isProgram as a regular expression.
const ProgramPattern = `[/ ]`

// isProgram reports whether a lock client is a program of the user's own, named by its path or with arguments; no built-in
// name has a slash or a space in it.
func isProgram(client string) bool { return history.IsOwnClient(client) }
