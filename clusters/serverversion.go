package clusters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// KeptServers is where scripts/servers keeps what it builds: a program itself, or one of another version in a directory of that name.
func KeptServers() (dirs []string) {
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "lockcheck", "servers"))
	}
	return dirs
}

// Find is what starts a server on this machine, before its arguments: of the version that the paths ask for, if they do. No words:
// lockcheck's own binary is the server.
func (s Software) Find(ctx context.Context, paths ServerPaths) ([]string, error) {
	if s.OnMachine == nil {
		return nil, nil
	}
	if paths.Version == "" || s.Version == nil {
		return s.OnMachine(paths)
	}
	here, refused := s.here(ctx, paths)
	var said []string
	var fits []int
	for i, h := range here {
		said = append(said, h.version+" ("+h.where()+")")
		if h.version == paths.Version {
			return h.found, nil
		}
		if strings.HasPrefix(h.version, paths.Version+".") {
			fits = append(fits, i)
		}
	}
	switch {
	case len(fits) == 1:
		return here[fits[0]].found, nil
	case len(fits) > 1:
		return nil, fmt.Errorf("%w: --%s=%s: several servers of %s begin so: say which: %s", ErrUsage, FlagVersion, paths.Version, s.Backend, strings.Join(said, ", "))
	case len(said) == 0:
		said = []string{"none"}
	}
	return nil, errors.Join(append([]error{fmt.Errorf("%w: --%s=%s: there is no such server of %s here; there are: %s; scripts/servers NAME@VERSION builds one whose Go module can be built alone, or name its program with --%s=PATH",
		ErrUnavailable, FlagVersion, paths.Version, s.Backend, strings.Join(said, ", "), FlagServerBin)}, refused...)...)
}

// server is one that is on this machine.
type server struct {
	version string
	found   []string
}

func (s server) where() string {
	if len(s.found) == 0 {
		return "built in"
	}
	return s.found[0]
}

// here are the servers of this machine, each version once: those of Bin, else of the default place, PATH, and what scripts/servers built. A program
// that is there and cannot be taken is refused.
func (s Software) here(ctx context.Context, paths ServerPaths) (all []server, refused []error) {
	places := paths.Bins()
	if len(places) == 0 {
		places = append([]string{""}, filepath.SplitList(os.Getenv("PATH"))...)
		for _, dir := range KeptServers() {
			versions, _ := filepath.Glob(filepath.Join(dir, "[0-9]*"))
			places = append(append(places, dir), versions...)
		}
	}
	for i, place := range places {
		if place == "" && i > 0 {
			continue // of PATH
		}
		found, err := s.OnMachine(ServerPaths{Bin: place, Jar: paths.Jar})
		if err != nil {
			if place != "" && !errors.Is(err, fs.ErrNotExist) {
				refused = append(refused, err)
			}
			continue
		}
		version, err := s.Version(ctx, found)
		switch {
		case err != nil:
			refused = append(refused, err)
		case !slices.ContainsFunc(all, func(other server) bool { return other.version == version }):
			all = append(all, server{version, found})
		}
	}
	return all, refused
}
