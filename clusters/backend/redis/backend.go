// Package redis runs Redis as a lock service: a primary, its replicas and a Sentinel beside each, or one server alone, and
// the lock clients for them.
package redis

import (
	"fmt"
	"strconv"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
)

// Name is what users call this backend.
const Name = "redis"

const (
	defaultNodes = 3
	minNodes     = 3 // with Sentinel: fewer cannot agree on anything once one is gone
	maxNodes     = 7
)

// Backend is Redis with Sentinel. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "redis".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "Redis: a primary, its replicas and a Sentinel beside each (--" + clusters.FlagNodes + "=1: one server alone), locked with SET NX PX"
}

// Software says that the server is redis-server, of a package or an image.
func (Backend) Software() clusters.Software { return server.Software(Name) }

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a
// setting that Redis would refuse, a TTL that cannot be honoured.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes := opts.Nodes
	if nodes == 0 {
		nodes = defaultNodes
	}
	if nodes != 1 && (nodes < minNodes || nodes > maxNodes) {
		return none, fmt.Errorf("%w: %d Redis servers: use 1 (without Sentinel) or %d to %d (a Sentinel beside each; "+
			"with fewer, no majority is left when one is gone)", clusters.ErrUsage, nodes, minNodes, maxNodes)
	}
	values, err := resolve(opts.Settings, nodes)
	if err != nil {
		return none, fmt.Errorf("%w: redis: %w", clusters.ErrUsage, err)
	}
	ttl, err := server.HonourTTL(Name, opts.TTL)
	if err != nil {
		return none, err
	}
	layout := clusters.Layout{Nodes: clusters.NodeNames(nodes), TTL: ttl, EffectiveTTL: ttl, Settings: values, LeaseClock: history.ClockWall, Diskless: server.Diskless(values),
		Syncless: clusters.Syncless(values, "appendfsync", "no", "always")}
	if nodes > 1 {
		layout.Election = leaderless(values)
	}
	return layout, nil
}

// leaderless bounds how long there is no primary after one was lost: the Sentinels notice after down-after-milliseconds,
// look once a second at who was promoted, and one split vote costs twice the failover timeout.
func leaderless(values map[string]string) time.Duration {
	return milliseconds(values[downAfter]) + 2*milliseconds(values[failoverTimeout]) + 3*time.Second
}

// milliseconds reads a setting that was checked before.
func milliseconds(value string) time.Duration {
	n, _ := strconv.ParseInt(value, 10, 64)
	return time.Duration(n) * time.Millisecond
}
