package harness

import (
	"fmt"
	"os/exec"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/consul"
	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/backend/kubernetes"
	"lockcheck/clusters/backend/mariadb"
	"lockcheck/clusters/backend/nats"
	"lockcheck/clusters/backend/other"
	"lockcheck/clusters/backend/postgres"
	"lockcheck/clusters/backend/redis"
	"lockcheck/clusters/backend/redlock"
	"lockcheck/clusters/backend/s3"
	"lockcheck/clusters/backend/zookeeper"
)

// Backends is the table of lock services: adding one is one line here and a folder of clusters/backend. Beside them there is other, for
// any service that is running already.
var Backends = []clusters.Described{
	consul.Backend{},
	etcd.Backend{},
	kubernetes.Backend{},
	mariadb.Backend{},
	nats.Backend{},
	postgres.Backend{},
	redis.Backend{},
	redlock.Backend{},
	s3.Backend{},
	zookeeper.Backend{},
}

// BackendNames are what --backend can be.
func BackendNames() []string {
	var names []string
	for _, b := range Backends {
		names = append(names, b.Name())
	}
	return names
}

// BackendNamesAndOther are these, and the one for any service that is running already.
func BackendNamesAndOther() []string { return append(BackendNames(), other.Name) }

func backendNamed(name string) (clusters.Backend, error) {
	for _, b := range Backends {
		if b.Name() == name {
			return b, nil
		}
	}
	if name == other.Name {
		return other.Backend{}, nil
	}
	return nil, history.Unknown("backend", name, BackendNames())
}

// clientProgram is what starts a lock client: one that comes with the backend, "" for its first; any program that
// speaks the client protocol: a command line with a slash or a space in it, which no built-in name has; or a container of an image.
func clientProgram(backend clusters.Backend, o Options) (name string, command clusters.Command, err error) {
	if o.Where.ClientImage != "" {
		return o.Where.ClientImage, clusters.Command{InClientImage: true, Args: o.ClientArgs}, nil
	}
	client := o.Client
	if isProgram(client) {
		words := strings.Fields(client)
		program, err := exec.LookPath(words[0])
		if err != nil {
			return "", command, fmt.Errorf("the lock client %s cannot be run: %w", words[0], err)
		}
		return client, clusters.Command{Program: absolute(program), Args: words[1:]}, nil
	}
	builtIn, err := clientNamed(backend, client)
	if builtIn.Program != nil { // which is not looked for before a run is made
		return builtIn.Name, clusters.Command{Args: []string{builtIn.Name}}, err
	}
	return builtIn.Name, clusters.Command{Args: []string{"client", backend.Name(), builtIn.Name}}, err
}

// clientNamed finds one of a backend's lock clients, or one that was added; "" is the backend's first.
func clientNamed(backend clusters.Backend, name string) (clusters.LockClient, error) {
	var names []string
	for _, c := range added {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	for i, c := range backend.Clients() {
		if c.Name == name || (name == "" && i == 0) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return clusters.LockClient{}, fmt.Errorf("backend %s comes with no lock client: name a program of your own by its path, ./NAME", backend.Name())
	}
	return clusters.LockClient{}, fmt.Errorf("backend %s has no client %q%s; there are: %s; a program of your own is named by its path: ./NAME",
		backend.Name(), name, history.Meant("", name, names), strings.Join(names, ", "))
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
