// Package server runs etcd's members, which are etcd's own program from an image or inside this binary. It knows nothing of
// locks: they are the servers of the backend etcd, and keep the data of Kubernetes.
package server

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"time"

	"go.etcd.io/etcd/api/v3/version"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this service.
const Name = "etcd"

const (
	program      = "etcd"
	defaultNodes = 3
	maxNodes     = 7 // more servers make etcd slower and no safer
)

// Members is a service of etcd members: all of a clusters.Backend but its lock clients.
type Members struct{}

// Name is "etcd".
func (Members) Name() string { return Name }

// saidVersion finds it in "etcd Version: 3.4.23".
var saidVersion = regexp.MustCompile(`(?m)^etcd Version: (\S+)`)

// Software says that lockcheck's own binary is a member where servers run on this machine and no program is named. The image has the same etcd. Other
// images and programs may have any etcd from 3.4.10 to 3.7: the flags are the same.
func (Members) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "quay.io/coreos/etcd:v" + version.Version, InImage: []string{program}, ImageData: "/var/lib/etcd",
		OnMachine: onMachine,
		Version: func(ctx context.Context, found []string) (string, error) {
			if len(found) == 0 {
				return version.Version, nil
			}
			return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
		},
	}
}

// onMachine is the program that was named, and nothing where none was: one that happens to be installed is not what is built in.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	if places.Bin == "" {
		return nil, nil
	}
	found, err := clusters.FindProgram(places, program, "")
	if err != nil {
		return nil, err
	}
	return []string{found}, nil
}

// Layout decides on the members and their settings. Errors are ErrUsage: a number of members that makes no sense,
// a setting that etcd would refuse, a TTL that it would change without telling.
func (Members) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes := opts.Nodes
	if nodes == 0 {
		nodes = defaultNodes
	}
	if nodes < 1 || nodes > maxNodes {
		return none, fmt.Errorf("%w: %d etcd members: use 1 to %d, best an odd number (an even one survives no more faults "+
			"than the odd one below it)", clusters.ErrUsage, nodes, maxNodes)
	}
	values, err := resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: etcd: %w", clusters.ErrUsage, err)
	}
	times, err := values.times()
	if err != nil {
		return none, fmt.Errorf("%w: etcd: %w", clusters.ErrUsage, err)
	}
	granted := times.granted(opts.TTL)
	if granted != opts.TTL {
		return none, fmt.Errorf("%w: etcd cannot honour a TTL of %v: it grants whole seconds, with these settings at least %v "+
			"(1.5 election timeouts, rounded up); the nearest it can is %v", clusters.ErrUsage, opts.TTL, times.minTTL(), granted)
	}
	return clusters.Layout{
		LeaseClock: history.ClockMonotonic,
		Nodes:      clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: granted, Election: times.leaderless(), Settings: values,
		Syncless: clusters.Syncless(values, "unsafe-no-fsync", "true", "false"),
	}, nil
}

// times are the settings that decide how long things take.
type times struct{ heartbeat, election time.Duration }

// minTTL is the shortest lease that a member grants. It computes ceil(floor(3 × ticks / 2) × heartbeat), where ticks is
// how many whole heartbeats fit into an election timeout; anything shorter is granted as this, and the answer says so.
func (t times) minTTL() time.Duration {
	ticks := int64(t.election / t.heartbeat)
	shortest := time.Duration(3*ticks/2) * t.heartbeat
	return time.Duration(math.Ceil(shortest.Seconds())) * time.Second
}

// granted is the lease nearest to the one asked for that can be honoured to the letter.
func (t times) granted(ttl time.Duration) time.Duration {
	return max(ttl.Round(time.Second), t.minTTL())
}

// leaderless bounds how long the members are without a leader after they lost one: they notice at random between one
// and two election timeouts after its last heartbeat, and one split vote costs as much again.
func (t times) leaderless() time.Duration { return 4 * t.election }
