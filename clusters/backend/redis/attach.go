package redis

import (
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/backend/redis/server"
	"lockcheck/clusters/client"
)

var (
	_ clusters.Attachable     = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// keysOf is where all lock clients keep their records.
var keysOf = server.KeysOf{Record: record.Key, Counter: counterKey}

// AttachLayout is that of one server, or of some with their Sentinels.
func (b Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	if endpoints > 1 {
		return clusters.LayoutOfOthers(b, endpoints, opts)
	}
	opts.Nodes = 1
	return b.Layout(opts)
}

// Credentials are passwords, of a user or of no user by name, and the primary that is meant, where Sentinels know of some.
func (Backend) Credentials() clusters.Credentials {
	return clusters.Credentials{Login: clusters.LoginPassword, Part: client.OptionMaster, Several: true}
}

// Attach prepares the connections.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	if len(to.Nodes) == 1 {
		return server.Attach(to, keysOf)
	}
	return newWatched(to)
}
