// Package nats runs NATS servers with JetStream as a lock service, and has lock clients that lock with a key-value bucket.
package nats

import (
	"fmt"
	"strconv"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "nats"

// A stream has at most five replicas.
var servers = clusters.OddNumber{Of: "NATS servers", Default: 3, Min: 1, Max: 5}

// Backend is NATS. The zero value is ready to use.
type Backend struct{}

var (
	_ clusters.Backend        = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// Name is "nats".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "NATS servers, locked with keys of a JetStream bucket that expire; a key's revision is the token"
}

const (
	// minTTL is the shortest that a message may have.
	minTTL = time.Second
	// grace is how long the servers may count a key after its TTL. They look for expired keys by a timer; 2 s were seen to become 3.3 s
	// on a busy machine.
	grace = 2 * time.Second
	// leaderless bounds how long the bucket has no leader after it lost one: an election begins 4 to 9 s after the leader's last word, and
	// a split vote costs as much again. These times are constants of the server.
	leaderless = 18 * time.Second
)

// Layout decides on the servers and their settings. Errors are ErrUsage.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	nodes, err := servers.Choose(opts.Nodes)
	if err != nil {
		return clusters.Layout{}, err
	}
	all, err := layout(nodes, opts)
	if err == nil && copies(all.Settings) > nodes {
		return clusters.Layout{}, fmt.Errorf("%w: %s: %s=%s needs %s servers: use --%s", clusters.ErrUsage, Name, replicas, all.Settings[replicas],
			all.Settings[replicas], clusters.FlagNodes)
	}
	return all, err
}

// copies reads the number of replicas, which was checked before.
func copies(values map[string]string) int {
	n, _ := strconv.Atoi(values[replicas])
	return n
}

// AttachLayout is Layout for endpoints, of which there may be any number.
func (Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	return layout(endpoints, opts)
}

// layout refuses a TTL with a fraction: the server drops fractions of a second without a word, and the lease would end early.
func layout(nodes int, opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	values, err := settings.Resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	if values[replicas] == everyServer {
		values[replicas] = strconv.Itoa(min(nodes, servers.Max))
	}
	if granted := max(opts.TTL.Round(time.Second), minTTL); granted != opts.TTL {
		return none, fmt.Errorf("%w: %s cannot honour a TTL of %v: keys expire after whole seconds, at least %v; the nearest it can is %v",
			clusters.ErrUsage, Name, opts.TTL, minTTL, granted)
	}
	election := leaderless
	if nodes == 1 && copies(values) == 1 { // one server elects nobody
		election = 0
	}
	return clusters.Layout{
		Nodes: clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: opts.TTL, Grace: grace,
		Election: election, Settings: values, LeaseClock: history.ClockWall,
	}, nil
}
