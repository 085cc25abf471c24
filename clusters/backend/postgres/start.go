package postgres

import (
	"context"
	"slices"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

// Launch starts the servers, the first as the primary. The second waits for it by itself, and makes its data as a copy. So does a pooler
// wait for its server.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	hosts, err := clusters.Hosts(ctx, site, slices.Concat(layout.Nodes, layout.Fronts))
	if err != nil {
		return nil, err
	}
	found, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	front, err := poolerFor(found, layout.Settings)
	if err != nil {
		return nil, err
	}
	keeping := hosts[:len(layout.Nodes)]
	nodes, err := pair.Start(ctx, keeping, func(self, other clusters.Host, follow bool) (clusters.Command, error) {
		return server{self: self, other: other, values: layout.Settings}.command(found, follow)
	})
	if err != nil || !pooled(layout.Settings) {
		return nodes, err
	}
	started, err := startPooler(ctx, hosts[len(keeping)], front, keeping[0].Addr(), layout.Settings)
	if err != nil {
		return nodes, err
	}
	return append(nodes, started), nil
}
