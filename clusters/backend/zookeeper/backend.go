// Package zookeeper runs ZooKeeper as a lock service: an ensemble of its own servers, one JVM each, and the lock clients
// for them.
package zookeeper

import (
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "zookeeper"

// More voters make it slower and no safer.
var servers = clusters.OddNumber{Of: "ZooKeeper servers", Default: 3, Min: 1, MinIs: " (standalone)", Max: 7}

// Backend is ZooKeeper. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "zookeeper".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "a ZooKeeper ensemble, locked with ephemeral sequential nodes; a node's czxid is the token"
}

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a
// setting that ZooKeeper would refuse, a TTL that it would change without telling.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes, err := servers.Choose(opts.Nodes)
	if err != nil {
		return none, err
	}
	values, err := resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: zookeeper: %w", clusters.ErrUsage, err)
	}
	times, err := values.times()
	if err != nil {
		return none, fmt.Errorf("%w: zookeeper: %w", clusters.ErrUsage, err)
	}
	granted := times.granted(opts.TTL)
	if granted != opts.TTL {
		return none, fmt.Errorf("%w: zookeeper cannot honour a TTL of %v: with these settings it grants sessions of %v to %v, in "+
			"whole milliseconds (%s, %s, %s); the nearest it can is %v", clusters.ErrUsage, opts.TTL, times.minSession, times.maxSession,
			tickTime, minSession, maxSession, granted)
	}
	return clusters.Layout{
		LeaseClock: history.ClockMonotonic,
		Nodes:      clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: granted, Election: times.leaderless(), Settings: values,
		Syncless: clusters.Syncless(values, "forceSync", "no", "yes"),
	}, nil
}

// times are the settings that decide how long things take.
type times struct {
	tick, sync             time.Duration // a tick; how long a follower and its leader wait for each other
	minSession, maxSession time.Duration // of a session
}

// granted is the session timeout that a server negotiates. It expires a session in the first whole tick after that, so
// never before it.
func (t times) granted(ttl time.Duration) time.Duration {
	return min(max(ttl.Truncate(time.Millisecond), t.minSession), t.maxSession)
}

// electionRound bounds one election among servers that can talk: they wait 200 ms for a better vote, the winner syncs a
// majority, and a server that was not heard asks again within maxNotificationInterval.
const electionRound = 2 * time.Second

// leaderless bounds how long the servers are without a leader after they lost one: followers wait for a silent leader
// for syncLimit ticks, then vote.
func (t times) leaderless() time.Duration { return t.sync + electionRound }
