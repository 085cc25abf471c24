// Package kubernetes runs Kubernetes' API as a lock service: etcd members that keep its data, two API servers before them, and
// lock clients on Leases.
package kubernetes

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd/server"
)

// Name is what users call this backend.
const Name = "kubernetes"

// apiServers is how many there are. client-go knows one URL: with two, half of the clients are left when one is gone.
const apiServers = 2

// Backend is Kubernetes' API server on etcd. The zero value is ready to use.
type Backend struct{}

var _ clusters.Backend = Backend{}

// Name is "kubernetes".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "Kubernetes: etcd members (built in) and two kube-apiservers, locked by leader election on a Lease"
}

// minTTL is the shortest lease that is let through. An elector takes a record for renewed only if the second of its renewTime is
// another: with 1 s it would take a lock from a holder that renews.
const minTTL = 2 * time.Second

// Layout decides on the servers and their settings. Errors are ErrUsage: a number of members that makes no sense, a setting that
// a server would refuse, a TTL that a Lease cannot have.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	var none clusters.Layout
	if granted := max(opts.TTL.Round(time.Second), minTTL); granted != opts.TTL {
		return none, fmt.Errorf("%w: %s cannot honour a TTL of %v: a Lease lasts whole seconds, and electors that see renewals by the second "+
			"take one of less than %v from a holder that renews; the nearest it can is %v", clusters.ErrUsage, Name, opts.TTL, minTTL, granted)
	}
	own, members, err := resolve(opts.Settings)
	if err != nil {
		return none, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	// The members are asked for a lease of theirs that they surely grant: Kubernetes needs none.
	layout, err := server.Members{}.Layout(clusters.Options{Nodes: opts.Nodes, TTL: time.Minute, Settings: members})
	if err != nil {
		return none, err
	}
	for name, value := range own {
		layout.Settings[name] = value
	}
	layout.Fronts = clusters.NodeNames(len(layout.Nodes) + apiServers)[len(layout.Nodes):]
	layout.TTL, layout.EffectiveTTL, layout.LeaseClock = opts.TTL, opts.TTL, history.ClockOfClients
	return layout, nil
}

// RunNode is one etcd member.
func (Backend) RunNode(ctx context.Context, args []string) error {
	return server.Members{}.RunNode(ctx, args)
}
