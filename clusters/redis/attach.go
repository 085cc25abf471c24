package redis

import (
	"fmt"

	"lockcheck/clusters"
	"lockcheck/clusters/redis/record"
	"lockcheck/clusters/redis/server"
)

var _ clusters.Attachable = Backend{}

// AttachLayout is that of one server.
func (b Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	if endpoints != 1 {
		return clusters.Layout{}, fmt.Errorf("%w: redis is attached to at one address, that of the primary, not at %d: its lock clients cannot follow the Sentinels of a "+
			"service that others run; independent servers are the backend redlock", clusters.ErrUsage, endpoints)
	}
	opts.Nodes = 1
	return b.Layout(opts)
}

// Attach prepares the connection to the server.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	return server.Attach(to, server.KeysOf{Record: record.Key, Counter: counterKey})
}
