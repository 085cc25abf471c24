package s3

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"lockcheck/clusters"
)

const logName = "versitygw" // versitygw.log, and the name of the data directory

// Launch starts the gateways. Several have the directory of the first one.
func (Backend) Launch(ctx context.Context, site clusters.Site, layout clusters.Layout) ([]clusters.Node, error) {
	shared := len(layout.Nodes) > 1
	if shared && !site.SharesFiles() {
		return nil, fmt.Errorf("%w: %d S3 gateways need one directory, which containers do not share here: use --%s=local, or --%s=1",
			clusters.ErrUnavailable, len(layout.Nodes), clusters.FlagProvider, clusters.FlagNodes)
	}
	servers, err := clusters.StartAll(ctx, site, layout, command)
	return clusters.Each(servers, func(s *clusters.Server) clusters.Node { return &launched{Server: s, shared: shared} }), err
}

// command starts a gateway. Its directory is its own data only where no other has it, too. It writes to files that have names from the
// beginning: the disks that faults hit have no others.
func command(server clusters.Command, self clusters.Host, all []clusters.Host, values map[string]string) (clusters.Command, error) {
	dir, err := all[0].DataDir(logName)
	if err != nil {
		return server, err
	}
	server.Args = append(slices.Clone(server.Args), "-port", net.JoinHostPort(self.Addr(), port), "-region", values[region], "posix", "-disableotmp", dir)
	server.Env = []string{
		"ROOT_ACCESS_KEY=" + ownAccess.Username, "ROOT_SECRET_KEY=" + ownAccess.Password.Reveal(),
		"VGW_BINARY=/usr/bin/env", // before the program, the official image's entry point would put the program once more
	}
	server.Log = logName
	if len(all) == 1 {
		server.Data = logName
	}
	return server, nil
}

// launched is a gateway that lockcheck started.
type launched struct {
	*clusters.Server
	shared bool   // its directory is another's, too
	bucket *store // as the harness asks it, once it is connected to
}

var _ clusters.Restarter = (*launched)(nil)

// bucketTimeout is how long a gateway that was started again may take to have the bucket, on a host that may be slowed down.
const bucketTimeout = 3 * time.Second

// Restart starts the gateway again, and makes the bucket if it is gone: the run's was made moments ago, and nothing of it was synced. That
// of a real store is as old as the store.
func (l *launched) Restart(ctx context.Context, empty bool) error {
	if empty && l.shared {
		return fmt.Errorf("%w: %s shares its directory with another gateway, and has no data that it could lose: use --%s=1", clusters.ErrUsage, l.Name(), clusters.FlagNodes)
	}
	if err := l.Server.Restart(ctx, empty); err != nil || l.bucket == nil {
		return err
	}
	_ = clusters.Until(ctx, bucketTimeout, lookEvery, l.bucket.makeBucket)
	return clusters.Ended(l, called)
}
