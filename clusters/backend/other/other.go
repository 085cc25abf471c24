// Package other is any lock service that lockcheck knows nothing of: others run it, and the lock client is the user's.
package other

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// Name is what users call it.
const Name = "other"

// Backend is such a service. The zero value is ready to use.
type Backend struct{}

var (
	_ clusters.Attachable     = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// Name is "other".
func (Backend) Name() string { return Name }

// About describes it in a line.
func (Backend) About() string {
	return "any running service (--" + clusters.FlagAttach + "), with your own lock client"
}

// Software is none.
func (Backend) Software() clusters.Software { return clusters.Software{Backend: Name} }

// Clients are none.
func (Backend) Clients() []clusters.LockClient { return nil }

var errNotStarted = fmt.Errorf("%w: lockcheck cannot start a service that it does not know: name one that is running with --%s=host:port", clusters.ErrUsage, clusters.FlagAttach)

// Layout is refused.
func (Backend) Layout(clusters.Options) (clusters.Layout, error) {
	return clusters.Layout{}, errNotStarted
}

// Launch is refused.
func (Backend) Launch(context.Context, clusters.Site, clusters.Layout) ([]clusters.Node, error) {
	return nil, errNotStarted
}

// Connect is refused.
func (Backend) Connect(clusters.Service) (clusters.Cluster, error) { return nil, errNotStarted }

// AttachLayout takes any TTL: what comes of it the clients report.
func (Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	if len(opts.Settings) > 0 {
		return clusters.Layout{}, fmt.Errorf("%w: nothing is known of the settings of backend %s: leave them out", clusters.ErrUsage, Name)
	}
	return clusters.Layout{Nodes: clusters.NodeNames(endpoints), TTL: opts.TTL, EffectiveTTL: opts.TTL}, nil
}

// Credentials are whatever the client understands.
func (Backend) Credentials() clusters.Credentials { return clusters.Credentials{} }

// Attach connects to nothing: only the clients know how to speak with the service.
func (Backend) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	return &attached{clusters.AttachedServiceOf(to), to}, nil
}

// attached is a service of which no more is known than where it is.
type attached struct {
	clusters.AttachedService
	to clusters.Attachment
}

// Place is none: lockcheck itself writes nothing.
func (a *attached) Place() string { return "" }

// Check has nothing to ask: that the endpoints can be connected to is known.
func (a *attached) Check(context.Context) error { return nil }

// Existing cannot be known. That no other run has locks of these names follows from the prefix.
func (a *attached) Existing(context.Context) ([]string, error) { return nil, nil }

// Remove has nothing that it could remove: closing its clients has to leave nothing.
func (a *attached) Remove(context.Context) error { return nil }

// readyTry bounds connecting to one endpoint.
const readyTry = 3 * time.Second

// Ready returns once every endpoint accepts connections.
func (a *attached) Ready(ctx context.Context) error {
	for _, node := range a.to.Nodes {
		bounded, cancel := context.WithTimeout(ctx, readyTry)
		conn, err := a.to.Dial(bounded, "tcp", node.Outside.String())
		cancel()
		if err != nil {
			return fmt.Errorf("%w: %s: %w", clusters.ErrUnavailable, node.Place(), err)
		}
		conn.Close()
	}
	return nil
}

var errNoProbe = errors.New("how to write to this service is not known")

// Probe cannot write.
func (a *attached) Probe(context.Context) error { return errNoProbe }

// Versions are not known.
func (a *attached) Versions(context.Context) (map[string]string, error) {
	return nil, errors.New("how to ask this service is not known")
}

// Close has nothing to end.
func (a *attached) Close() error { return nil }
