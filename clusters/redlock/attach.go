package redlock

import (
	"lockcheck/clusters"
	"lockcheck/clusters/redis/record"
	"lockcheck/clusters/redis/server"
)

var _ clusters.Attachable = Backend{}

// AttachLayout is that of so many servers.
func (b Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	opts.Nodes = endpoints
	return b.Layout(opts)
}

// Attach prepares a connection to each server.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	return server.Attach(to, server.KeysOf{Record: record.Key})
}
