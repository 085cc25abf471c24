//go:build e2e

package kubernetes

import (
	"context"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
)

// inOrder is a site that looks, when a second API server is started, whether the first has made its Service.
type inOrder struct {
	clusters.Site
	first  *front
	second error // what the first said then
	looked bool
}

type orderedHost struct {
	clusters.Host
	of *inOrder
}

func (s *inOrder) Host(ctx context.Context, name string) (clusters.Host, error) {
	host, err := s.Site.Host(ctx, name)
	return orderedHost{host, s}, err
}

func (h orderedHost) Start(ctx context.Context, command clusters.Command) (clusters.Process, error) {
	switch s := h.of; {
	case command.Log != dataName:
	case s.first == nil:
		s.first = newFront(h, s.Dial)
	default:
		s.looked, s.second = true, s.first.ownService(ctx)
	}
	return h.Host.Start(ctx, command)
}

func TestTheSecondAPIServerWaitsForWhatTheFirstMakes(t *testing.T) {
	layout, err := Backend{}.Layout(clusters.Options{TTL: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	site := &inOrder{Site: backends.Site(t, Backend{})}
	c, err := clusters.Start(t.Context(), Backend{}, site, layout, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !site.looked || site.second != nil {
		t.Errorf("a second API server was started: %v, when the first said: %v", site.looked, site.second)
	}
}
