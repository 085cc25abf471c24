// Package redis runs Redis as a lock service: a primary, its replicas and a Sentinel beside each, or one server alone, and
// the lock clients for them.
package redis

import (
	"fmt"
	"strconv"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/redis/server"
)

// Name is what users call this backend.
const Name = "redis"

const (
	usualNodes = 3
	leastNodes = 3 // with Sentinel: fewer cannot agree on anything once one is gone
	mostNodes  = 7
)

// LeastTTL is the shortest lease that is let through. Redis itself would honour 1 ms; below this a client that renews at
// a third of the lease has no time for a request and its repetition.
const LeastTTL = 200 * time.Millisecond

// Backend is Redis with Sentinel. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "redis".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "Redis: a primary, its replicas and a Sentinel beside each (--nodes=1: one server alone), locked with SET NX PX"
}

// Software says that the server is redis-server, of a package or an image.
func (Backend) Software() clusters.Software { return server.Software(Name) }

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a
// setting that Redis would refuse, a TTL that cannot be honoured.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes := opts.Nodes
	if nodes == 0 {
		nodes = usualNodes
	}
	if nodes != 1 && (nodes < leastNodes || nodes > mostNodes) {
		return none, fmt.Errorf("%w: %d Redis servers: use 1 (without Sentinel) or %d to %d (a Sentinel beside each; "+
			"with fewer, no majority is left when one is gone)", clusters.ErrUsage, nodes, leastNodes, mostNodes)
	}
	values, err := resolve(opts.Settings, nodes)
	if err != nil {
		return none, fmt.Errorf("%w: redis: %w", clusters.ErrUsage, err)
	}
	ttl, err := HonourTTL(Name, opts.TTL)
	if err != nil {
		return none, err
	}
	layout := clusters.Layout{Nodes: clusters.NodeNames(nodes), TTL: ttl, EffectiveTTL: ttl, Settings: values}
	if nodes > 1 {
		layout.Election = leaderless(values)
	}
	return layout, nil
}

// HonourTTL refuses a lease that Redis servers would not grant to the letter, with the nearest that they do.
func HonourTTL(backend string, ttl time.Duration) (time.Duration, error) {
	if granted := max(ttl.Round(time.Millisecond), LeastTTL); granted != ttl {
		return 0, fmt.Errorf("%w: %s cannot honour a TTL of %v: Redis counts whole milliseconds, and below %v there is no time "+
			"to renew; the nearest it can is %v", clusters.ErrUsage, backend, ttl, LeastTTL, granted)
	}
	return ttl, nil
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
