package consul

import (
	"context"
	"fmt"
	"regexp"

	"lockcheck/clusters"
)

const (
	program = "consul"
	install = "scripts/servers consul, which builds it from its Go module"
)

// saidVersion finds it in "Consul v1.10.12".
var saidVersion = regexp.MustCompile(`^Consul v(\d+\.\d+\.\S+)`)

// Software says where servers come from: the official image, or a program of this machine.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "hashicorp/consul:1.16.0", InImage: []string{program}, ImageData: "/consul/data",
		OnMachine: onMachine, Version: version,
	}
}

func version(ctx context.Context, found []string) (string, error) {
	return clusters.VersionOf(ctx, saidVersion, found[0], "version")
}

// onMachine finds the program, and has it say that it is Consul: another's errors would be those of a server that does not
// start.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	path, err := clusters.FindProgram(places, program, install, clusters.KeptServers()...)
	if err != nil {
		return nil, err
	}
	if _, err := version(context.Background(), []string{path}); err != nil {
		return nil, fmt.Errorf("%w: %s is not Consul: %w; name another with --%s=PATH, or use %s",
			clusters.ErrUnavailable, path, err, clusters.FlagServerBin, clusters.ChooseDocker)
	}
	return []string{path}, nil
}
