package s3

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"lockcheck/clusters"
)

const (
	program = "versitygw"
	install = "scripts/servers versitygw, which builds it from its Go module in a few minutes"
)

// saidVersion finds it in "Version  : 1.8.0".
var saidVersion = regexp.MustCompile(`(?m)^Version +: v?(\d+\.\d+\.\S+)`)

// Software says where servers come from: the official image, or a program of this machine.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "versity/versitygw:v1.8.0", InImage: []string{program}, ImageData: "/data",
		OnMachine: onMachine, Version: version,
	}
}

func version(ctx context.Context, found []string) (string, error) {
	return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
}

// onMachine finds the program, and has it say that it is versitygw: another's errors would be those of a server that does not start.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	var built []string
	if cache, err := os.UserCacheDir(); err == nil {
		built = append(built, filepath.Join(cache, "lockcheck", "servers"))
	}
	path, err := clusters.FindProgram(places, program, install, built...)
	if err != nil {
		return nil, err
	}
	if _, err := version(context.Background(), []string{path}); err != nil {
		return nil, fmt.Errorf("%w: %s is not versitygw: %w; name another with --%s=PATH, or use %s",
			clusters.ErrUnavailable, path, err, clusters.FlagServerBin, clusters.ChooseDocker)
	}
	return []string{path}, nil
}
