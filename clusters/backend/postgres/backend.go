// Package postgres runs PostgreSQL as a lock service: a primary and a streaming standby, or one server alone, with a pooler before
// it if asked for, and the lock clients for them.
package postgres

import (
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "postgres"

const defaultNodes = 2

// Backend is PostgreSQL with streaming replication. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "postgres".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "PostgreSQL: a primary and a streaming standby (--" + clusters.FlagNodes + "=1: one server alone), locked by session, by row or by lease"
}

// minTTL is the shortest lease that is let through: below it a client that renews at a third of the lease has no time for a
// request and its repetition.
const minTTL = 200 * time.Millisecond

// promotion bounds how long there is no primary after a failover was asked for: the old one is gone at once, and a standby
// that is promoted has little to replay. Without a failover no server takes a lost primary's place.
const promotion = 4 * time.Second

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of servers that makes no sense, a
// setting that PostgreSQL would refuse or that cuts off each holder, a TTL that cannot be honoured.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes := opts.Nodes
	switch {
	case nodes == 0 && pooled(opts.Settings):
		nodes = 1
	case nodes == 0:
		nodes = defaultNodes
	}
	if nodes != 1 && nodes != 2 {
		return none, fmt.Errorf("%w: %d PostgreSQL servers: use 1 (alone) or 2 (a primary and its standby)", clusters.ErrUsage, nodes)
	}
	if granted := max(opts.TTL.Round(time.Millisecond), minTTL); granted != opts.TTL {
		return none, fmt.Errorf("%w: %s cannot honour a TTL of %v: its clients count whole milliseconds, and below %v there is no time "+
			"to renew; the nearest it can is %v", clusters.ErrUsage, Name, opts.TTL, minTTL, granted)
	}
	values, err := resolve(opts.Settings, nodes, opts.TTL)
	if err != nil {
		return none, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	layout := clusters.Layout{Nodes: clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: opts.TTL, Settings: values, LeaseClock: history.ClockWall,
		Syncless: clusters.Syncless(values, "fsync", "off", "on")}
	if nodes > 1 {
		layout.Election = promotion
	}
	if pooled(values) {
		layout.Fronts = clusters.NodeNames(nodes + 1)[nodes:]
	}
	return layout, nil
}
