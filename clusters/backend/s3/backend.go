// Package s3 runs gateways of an S3-compatible store as a lock service, and has lock clients that keep a lease in an object by
// conditional writes.
package s3

import (
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this backend.
const Name = "s3"

// Backend is an S3-compatible store. The zero value is ready to use.
type Backend struct{}

var (
	_ clusters.Backend        = Backend{}
	_ clusters.AttachLayouter = Backend{}
)

// Name is "s3".
func (Backend) Name() string { return Name }

// About describes the backend in a line.
func (Backend) About() string {
	return "an S3-compatible store (versitygw), locked with leases in objects by conditional writes; a generation is the token"
}

const (
	mostGateways = 2
	// minTTL is the shortest lease that is let through: below it a client that renews at a third of the lease has no time for a
	// request and its repetition.
	minTTL = 200 * time.Millisecond
)

// Layout decides on the gateways and their settings. Errors are ErrUsage.
func (Backend) Layout(opts clusters.Options) (clusters.Layout, error) {
	nodes := max(opts.Nodes, 1)
	if nodes > mostGateways {
		return clusters.Layout{}, fmt.Errorf("%w: %d S3 gateways: use 1, or %d on one directory", clusters.ErrUsage, nodes, mostGateways)
	}
	all, err := layout(nodes, opts)
	if nodes > 1 {
		all.Diskless = fmt.Sprintf("%d gateways share one directory, which is the disk of none of them: use --%s=1", nodes, clusters.FlagNodes)
	}
	return all, err
}

// AttachLayout is Layout for endpoints, of which there may be any number.
func (Backend) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	return layout(endpoints, opts)
}

func layout(nodes int, opts clusters.Options) (clusters.Layout, error) {
	values, err := settings.Resolve(opts.Settings)
	if err != nil {
		return clusters.Layout{}, fmt.Errorf("%w: %s: %w", clusters.ErrUsage, Name, err)
	}
	if granted := max(opts.TTL.Round(time.Millisecond), minTTL); granted != opts.TTL {
		return clusters.Layout{}, fmt.Errorf("%w: %s cannot honour a TTL of %v: its clients count whole milliseconds, and below %v there is no time "+
			"to renew; the nearest it can is %v", clusters.ErrUsage, Name, opts.TTL, minTTL, granted)
	}
	return clusters.Layout{
		Nodes: clusters.NodeNames(nodes), TTL: opts.TTL, EffectiveTTL: opts.TTL, Settings: values, LeaseClock: history.ClockOfClients,
	}, nil
}
