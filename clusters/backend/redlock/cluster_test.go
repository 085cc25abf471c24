//go:build e2e

package redlock

import (
	"context"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit/backends"
)

func start(t *testing.T) *cluster {
	t.Helper()
	return backends.Start(t, Backend{}, clusters.Options{TTL: time.Second}).(*cluster)
}

func TestFiveIndependentServers(t *testing.T) {
	c := start(t)
	if len(c.Nodes()) != 5 || len(c.Endpoints()) != 5 {
		t.Errorf("nodes %v, endpoints %v", c.Nodes(), c.Endpoints())
	}
	if _, led := clusters.Cluster(c).(clusters.LeaderReporter); led {
		t.Error("it says who leads")
	}
	for _, s := range c.Servers {
		info, err := s.Info(t.Context())
		if err != nil || info["role"] != "master" || info["connected_slaves"] != "0" {
			t.Errorf("%s: %v, %v", s.Name(), info, err)
		}
	}
	versions, err := c.Versions(t.Context())
	if err != nil || strings.Count(versions["redis"], ".") != 2 {
		t.Errorf("versions %v, %v", versions, err)
	}
}

func TestAProbeNeedsAMajority(t *testing.T) {
	c := start(t)
	backends.Pause(t, c.Servers[0].Node)
	backends.Pause(t, c.Servers[1].Node)
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("with three of five: %v", err)
	}
	backends.Pause(t, c.Servers[2].Node)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Probe(ctx); err == nil || !strings.Contains(err.Error(), "n1") {
		t.Errorf("with two of five: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Ready(ctx); err == nil || !strings.Contains(err.Error(), "n1") {
		t.Errorf("ready: %v", err)
	}
	for _, s := range c.Servers[:3] {
		backends.Resume(t, s.Node)
	}
	backends.Ready(t, c)
}

func TestAnAttachedServiceGetsReady(t *testing.T) {
	backends.ReadyAlone(t, Backend{}, clusters.Options{TTL: time.Second})
}
