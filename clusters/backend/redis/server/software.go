package server

import (
	"context"
	"regexp"

	"lockcheck/clusters"
)

// Port is where a server listens, on its own host's address.
const Port = "6379"

const program = "redis-server"

// saidVersion finds it in "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0". Valkey's says "Server v=".
var saidVersion = regexp.MustCompile(`[sS]erver v=(\S+)`)

// Software says what the servers of a backend are started from. The official image takes the same command line as the
// program of a package does: "redis-server FILE".
func Software(backend string) clusters.Software {
	return clusters.Software{
		Backend: backend, Image: "redis:7.2.5", InImage: []string{program}, ImageData: "/data",
		OnMachine: func(places clusters.ServerPaths) ([]string, error) {
			found, err := clusters.FindProgram(places, program, "apt-get install redis-server", "/usr/bin", "/usr/local/bin")
			if err != nil {
				return nil, err
			}
			return []string{found}, nil
		},
		Version: func(ctx context.Context, found []string) (string, error) {
			return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
		},
	}
}
