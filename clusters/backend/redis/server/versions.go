package server

import (
	"context"

	"lockcheck/clusters"
)

// Infos asks all servers for their Info.
func Infos(ctx context.Context, servers []*Server) []clusters.Answer[*Server, map[string]string] {
	return clusters.AskAll(ctx, servers, func(ctx context.Context, s *Server) (map[string]string, error) { return s.Info(ctx) })
}

// Versions is one version, under the name "redis", if all servers that answer run the same, else all of them by name.
func Versions(ctx context.Context, servers []*Server) (map[string]string, error) {
	version, err := clusters.OneVersion(ctx, "redis server", servers, func(ctx context.Context, s *Server) (string, error) {
		info, err := s.Info(ctx)
		return info["redis_version"], err
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{"redis": version}, nil
}
