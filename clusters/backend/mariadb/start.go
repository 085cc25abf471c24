package mariadb

import (
	"context"

	"lockcheck/clusters"
	"lockcheck/clusters/pair"
)

// Launch starts the servers: those of a Galera cluster all alike, else the first as the primary. The second waits for it by itself, and
// reads its log from the beginning.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	if isGalera(layout.Settings) {
		return launchGalera(ctx, site, layout)
	}
	hosts, err := clusters.Hosts(ctx, site, layout.Nodes)
	if err != nil {
		return nil, err
	}
	found, err := site.Server(ctx)
	if err != nil {
		return nil, err
	}
	return pair.Start(ctx, hosts, func(self, other clusters.Host, follow bool) (clusters.Command, error) {
		return command(found, self, layout.Settings, func(dir string) part { return paired(dir, other, follow) })
	})
}
