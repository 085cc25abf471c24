// Package mariadb runs MariaDB as a lock service: a primary and its replica, one server alone, or a Galera cluster, and the lock clients for
// them.
package mariadb

import (
	"cmp"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "mariadb"

const defaultNodes = 2

// Backend is MariaDB. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "mariadb".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "MariaDB: a primary and its replica (--" + clusters.FlagNodes + "=1: one server alone, --" + clusters.FlagSet + "=" + kind + "=" + galera + ": a Galera cluster), locked by session, by row or by lease"
}

const (
	// minTTL is the shortest lease that leaves a client that renews at a third of it time for a request and its repetition.
	minTTL = 200 * time.Millisecond
	// promotion bounds how long there is no primary after a failover was asked for. Without one no server takes a lost primary's place.
	promotion = 4 * time.Second
)

func numberOfServers(opts clusters.Options) (int, error) {
	if isGalera(opts.Settings) {
		return galeraNodes.Choose(opts.Nodes)
	}
	n := cmp.Or(opts.Nodes, defaultNodes)
	if n != 1 && n != 2 {
		return 0, fmt.Errorf("%w: %d MariaDB servers: use 1 (alone) or 2 (a primary and its replica), or 3 with --%s=%s=%s", clusters.ErrUsage, n, clusters.FlagSet, kind, galera)
	}
	return n, nil
}

// Layout decides on the servers and their settings. Errors are ErrUsage.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	nodes, err := numberOfServers(opts)
	if err != nil {
		return none, err
	}
	if granted := max(opts.TTL.Round(time.Millisecond), minTTL); granted != opts.TTL {
		return none, fmt.Errorf("%w: %s cannot honour a TTL of %v: its clients count whole milliseconds, and below %v there is no time "+
			"to renew; the nearest it can is %v", clusters.ErrUsage, Name, opts.TTL, minTTL, granted)
	}
	values, err := resolve(opts.Settings, opts.TTL)
	if err != nil {
		return none, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	layout := clusters.Layout{Nodes: clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: opts.TTL, Settings: values, LeaseClock: history.ClockWall}
	switch {
	case isGalera(values):
		layout.Diskless = "a Galera node whose disk lost something needs a copy of another's data, and lockcheck makes none: use --" + clusters.FlagSet + "=" + kind + "=" + replica
	case nodes > 1:
		layout.Election = promotion
	}
	return layout, nil
}
