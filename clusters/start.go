package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lockcheck/checker/history"
)

// startTimeout is how long servers may take to become a service.
const startTimeout = 60 * time.Second

// Start launches a backend's servers, connects to them, and returns once the whole service was seen to be ready. What was
// started before an error ends with the site.
func Start(ctx context.Context, backend Backend, site Site, layout Layout, progress io.Writer) (Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	begun := time.Now()
	nodes, err := backend.Launch(ctx, site, layout)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "%s: started %s\n", backend.Name(), Whereabouts(nodes))
	cluster, err := backend.Connect(Service{Nodes: nodes, Dial: site.Dial, Layout: layout})
	if err != nil {
		return nil, err
	}
	if err := cluster.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s of %s: %w", history.Counted(len(nodes), "server", "servers"), backend.Name(), err), cluster.Close())
	}
	fmt.Fprintf(progress, "%s: ready after %.1f s%s\n", backend.Name(), time.Since(begun).Seconds(), standing(ctx, cluster))
	return cluster, nil
}

// standing says how a cluster that was seen to be ready stands, to follow that. It is for people: one that does not answer
// this question is ready all the same.
func standing(ctx context.Context, cluster Cluster) string {
	asked, ok := cluster.(Standing)
	if !ok {
		return ""
	}
	how, err := asked.Standing(ctx)
	if err != nil {
		return fmt.Sprintf(" (how it stands is not known: %v)", err)
	}
	return ", " + how
}

// Leads says which node leads, as Standing does.
func Leads(ctx context.Context, of LeaderReporter) (string, error) {
	leader, err := of.Leader(ctx)
	return cmp.Or(leader, "no node") + " leads", err
}
