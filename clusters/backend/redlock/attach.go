package redlock

import (
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/backend/redis/server"
)

var (
	_ clusters.Attachable     = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// AttachLayout is that of so many servers.
func (b Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	opts.Nodes = endpoints
	return b.Layout(opts)
}

// Credentials are passwords, of a user or of no user by name.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginPassword}
}

// Attach prepares a connection to each server.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	return server.Attach(to, server.KeysOf{Record: record.Key})
}
