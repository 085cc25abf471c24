package nats

import (
	"context"
	"fmt"
	"regexp"

	"lockcheck/clusters"
)

const (
	program = "nats-server"
	install = "scripts/servers nats-server, which builds it from its Go module in a minute"
)

// withoutTTL are the versions whose keys have no TTL of their own: those before 2.11.
var withoutTTL = regexp.MustCompile(`^(1\.|2\.([0-9]|10)\.)`)

// saidVersion finds it in "nats-server: v2.15.2".
var saidVersion = regexp.MustCompile(`^nats-server: v(\d+\.\d+\.\S+)`)

// Software says where servers come from: the official image, or a program of this machine.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "nats:2.15.2-alpine", InImage: []string{program}, ImageData: "/data",
		OnMachine: onMachine, Version: version,
	}
}

func version(ctx context.Context, found []string) (string, error) {
	return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
}

// onMachine finds the program, and has it say that it is NATS: another's errors would be those of a server that does not start.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	path, err := clusters.FindProgram(places, program, install, clusters.KeptServers()...)
	if err != nil {
		return nil, err
	}
	says, err := version(context.Background(), []string{path})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s is not NATS: %w; name another with --%s=PATH, or use %s",
			clusters.ErrUnavailable, path, err, clusters.FlagServerBin, clusters.ChooseDocker)
	case withoutTTL.MatchString(says):
		return nil, fmt.Errorf("%w: %s is NATS %s, whose keys have no TTL: use NATS 2.11 or later (%s)", clusters.ErrUnavailable, path, says, install)
	}
	return []string{path}, nil
}
