package server

import (
	"context"
	"errors"
	"time"

	"lockcheck/clusters"
)

// Of the plain writes that tell whether a service takes any.
const (
	ProbeEvery   = 50 * time.Millisecond
	ProbeTimeout = 20 * time.Second  // many failovers
	ProbeKey     = "lockcheck-probe" // lock clients use keys with another prefix
)

// Servers are the servers of one service.
type Servers []*Server

// ConnectAll prepares connections to the servers of a service.
func ConnectAll(service clusters.Service) (all Servers) {
	for _, at := range service.Nodes {
		all = append(all, Connect(at, service.Dial))
	}
	return all
}

// Nodes are the servers as they were given: one that lockcheck launched can be started again.
func (all Servers) Nodes() []clusters.Node {
	return clusters.Each(all, func(s *Server) clusters.Node { return s.Node })
}

// Endpoints are the servers' own addresses.
func (all Servers) Endpoints() []string { return clusters.Each(all, (*Server).Endpoint) }

// Infos asks all servers for their Info.
func (all Servers) Infos(ctx context.Context) []clusters.Answer[*Server, map[string]string] {
	return clusters.AskAll(ctx, all, func(ctx context.Context, s *Server) (map[string]string, error) { return s.Info(ctx) })
}

// Versions is one version, under the name "redis", if all servers that answer run the same, else all of them by name.
func (all Servers) Versions(ctx context.Context) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "redis server", all, func(ctx context.Context, s *Server) (string, error) {
		info, err := s.Info(ctx)
		return info["redis_version"], err
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{"redis": version}, nil
}

// Close ends the connections to the servers, not the servers.
func (all Servers) Close() error {
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
