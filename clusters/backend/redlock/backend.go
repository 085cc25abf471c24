// Package redlock runs Redlock: independent Redis servers that know nothing of each other, and lock clients that hold a
// lock when they have made its record on a majority of them.
package redlock

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/redis/server"
	"lockcheck/clusters/setting"
)

// Name is what users call this backend.
const Name = "redlock"

var servers = clusters.OddNumber{Of: "Redlock servers", Default: 5, Min: 3, Max: 9}

// Backend is Redlock. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "redlock".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "Redlock: independent Redis servers, locked by a majority of them"
}

// Software says that the server is redis-server, of a package or an image.
func (Backend) Software() clusters.Software { return server.Software(Name) }

// settings are those of each server. Persistence is as Redis has it by default: no append-only file. Redlock's own
// description asks for more (an append-only file that is synced always, or a server that stays away for one TTL after it
// was started again), and says what happens without.
func settings() setting.Table {
	return slices.Concat(server.Persistence, server.Memory)
}

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a
// setting that Redis would refuse, a TTL that cannot be honoured.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes, err := servers.Choose(opts.Nodes)
	if err != nil {
		return none, err
	}
	values, err := settings().Resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: redlock: %w", clusters.ErrUsage, err)
	}
	ttl, err := server.HonourTTL(Name, opts.TTL)
	if err != nil {
		return none, err
	}
	return clusters.Layout{Nodes: clusters.NodeNames(nodes), TTL: ttl, EffectiveTTL: ttl, Settings: values, LeaseClock: history.ClockWall, Diskless: server.Diskless(values),
		Syncless: clusters.Syncless(values, "appendfsync", "no", "always")}, nil
}
