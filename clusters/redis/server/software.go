package server

import "lockcheck/clusters"

// Port is where a server listens, on its own host's address.
const Port = "6379"

const program = "redis-server"

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
	}
}
