package main

import (
	"fmt"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/etcd"
)

// backends is the table of lock services: adding one is one line here and a folder below clusters.
var backends = []clusters.Backend{
	etcd.Backend{},
}

func backendNames() []string {
	var names []string
	for _, b := range backends {
		names = append(names, b.Name())
	}
	return names
}

func backendNamed(name string) (clusters.Backend, error) {
	for _, b := range backends {
		if b.Name() == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: there is no backend %q; there are: %s", clusters.ErrUsage, name, strings.Join(backendNames(), ", "))
}

// clientNamed finds one of a backend's lock clients; "" is its first.
func clientNamed(backend clusters.Backend, name string) (clusters.LockClient, error) {
	var names []string
	for i, c := range backend.Clients() {
		if c.Name == name || (name == "" && i == 0) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return clusters.LockClient{}, fmt.Errorf("%w: backend %s has no client %q; there are: %s", clusters.ErrUsage, backend.Name(), name, strings.Join(names, ", "))
}
