// Package consul runs Consul as a lock service: agents that are servers, and the lock client of Consul's own Go library.
package consul

import (
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "consul"

// More servers make it slower and no safer.
var servers = clusters.OddNumber{Of: "Consul servers", Default: 3, Min: 1, Max: 7}

// Backend is Consul. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "consul".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "Consul servers, locked with sessions; a key's LockIndex is the token, and a lock that was lost is granted to no client for 15 s (lock-delay)"
}

// maxTTL is the longest that Consul lets a session ask for.
const maxTTL = 24 * time.Hour

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a setting
// that Consul would refuse, a TTL that it would refuse.
//
// A session that is no longer renewed is ended once it has been silent for twice its TTL (structs.SessionTTLMultiplier):
// Consul promises not to end it before the TTL, and nothing about how long after. The second TTL is the grace.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes, err := servers.Choose(opts.Nodes)
	if err != nil {
		return none, err
	}
	values, err := settings.Resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	least := duration(values[sessionTTLMin])
	if granted := min(max(opts.TTL.Round(time.Millisecond), least), maxTTL); granted != opts.TTL {
		return none, fmt.Errorf("%w: %s cannot honour a TTL of %v: with %s=%v it takes sessions of %v to %v, and lockcheck asks for whole "+
			"milliseconds; the nearest it can is %v", clusters.ErrUsage, Name, opts.TTL, sessionTTLMin, least, least, maxTTL, granted)
	}
	return clusters.Layout{
		Nodes: clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: opts.TTL, Grace: opts.TTL, LockDelay: duration(values[lockDelay]),
		Election: leaderless(values), Settings: values, LeaseClock: history.ClockMonotonic,
	}, nil
}

// leaderless bounds how long the servers are without a leader after they lost one: they notice between one and two seconds
// after its last word, a split vote costs as much again, and the new leader then writes its first entry; all of that times
// raft_multiplier.
func leaderless(values map[string]string) time.Duration {
	return time.Duration(number(values[raftMultiplier])) * 5 * time.Second
}
