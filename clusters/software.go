package clusters

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Software is what a backend's servers are started from. Providers find it in different places: in an image, or on this
// machine.
type Software struct {
	Backend string // names the variable LOCKCHECK_IMAGE_<BACKEND>

	Image     string   // the official image, with a pinned tag; used unless the user names another
	InImage   []string // starts a server in it, before its arguments: "redis-server"
	ImageData string   // the directory that the image keeps its data in: "/data"
	BuiltIn   []string // the data of servers that are lockcheck's own binary although there is an image for others (Command.Data)

	// OnMachine finds what starts a server on this machine, before its arguments. The error wraps ErrUnavailable and gives
	// the install command. Nil, or no words: lockcheck's own binary is the server ("node", Backend).
	OnMachine func(ServerPaths) ([]string, error)
	// Jars says that OnMachine looks at ServerPaths.Jar.
	Jars bool
	// Version is that of the servers on this machine; found is what OnMachine found. Nil if only a running server tells it.
	Version func(ctx context.Context, found []string) (string, error)
	// Optional is software that only some settings ask for.
	Optional []Optional
}

// Optional is the software of servers beside others.
type Optional struct {
	Software
	Setting string // that asks for it: "pooler=session"
}

// WithoutServers is what is left of it where others run the servers: nothing has to be there.
func (s Software) WithoutServers() Software { return Software{Backend: s.Backend} }

// CommandOnMachine is what starts a server of this machine, to be completed with arguments, log and data.
func (s Software) CommandOnMachine(paths ServerPaths) (Command, error) {
	words, err := s.Find(context.Background(), paths)
	if err != nil {
		return Command{}, err
	}
	if len(words) == 0 {
		return Command{Args: []string{"node", s.Backend}}, nil
	}
	return Command{Program: words[0], Args: words[1:]}, nil
}

// ServerPaths are where the user said that server programs are; empty for the default places.
type ServerPaths struct {
	Bin     string // programs, or directories they are in, as in PATH: the first one counts that has the version (FlagServerBin)
	Jar     string // a jar, or the directory of the jars (FlagServerJar)
	Version string // that the servers have to be, or what it begins with: 3.4 (FlagVersion); "" for any
}

// Bins are the places of Bin.
func (p ServerPaths) Bins() []string { return filepath.SplitList(p.Bin) }

// FindProgram finds the program called name: where ServerPaths.Bin says, else on PATH, else in one of the default directories.
// install is the command that would bring it ("apt-get install redis-server").
func FindProgram(places ServerPaths, name, install string, usual ...string) (string, error) {
	var missing error
	for _, path := range places.Bins() {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, name)
		}
		found, err := exec.LookPath(path)
		if err == nil {
			return filepath.Abs(found)
		}
		missing = fmt.Errorf("%w: --%s=%s: %w", ErrUnavailable, FlagServerBin, places.Bin, err)
	}
	if missing != nil {
		return "", missing
	}
	if found, err := exec.LookPath(name); err == nil {
		return filepath.Abs(found)
	}
	for _, dir := range usual {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not on PATH nor in %v: install it (%s), name it with --%s=PATH, or use %s",
		ErrUnavailable, name, usual, install, FlagServerBin, ChooseDocker)
}
