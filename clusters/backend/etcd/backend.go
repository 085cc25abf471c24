// Package etcd runs etcd as a lock service: members (package server), and the lock clients for them.
package etcd

import (
	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd/server"
)

// Name is what users call this backend.
const Name = server.Name

// Backend is etcd. The zero value is ready to use.
type Backend struct{ server.Members }

var _ clusters.Backend = Backend{}

// About describes the backend in a line.
func (Backend) About() string {
	return "etcd members (the program is built in), locked with leases and the create revision of a key"
}
