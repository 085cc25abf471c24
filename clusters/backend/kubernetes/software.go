package kubernetes

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/backend/etcd/server"
)

const (
	program = "kube-apiserver"
	// release is the one that was tried, and that scripts/servers builds. minor is what other servers have to be of: the lock
	// clients are client-go 0.34.
	release = "1.34.4"
	minor   = "1.34"
	install = "scripts/servers kube-apiserver builds and keeps it, setup-envtest brings one"
	// assets names the directory in which envtest has it.
	assets = "KUBEBUILDER_ASSETS"
)

// saidVersion finds it in "Kubernetes v1.34.4".
var saidVersion = regexp.MustCompile(`^Kubernetes v(\d+\.\d+\.\d+\S*)`)

// Software says where API servers come from: the official image, or a program of this machine. etcd's members are lockcheck's
// own binary everywhere.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "registry.k8s.io/kube-apiserver:v" + release, InImage: []string{program}, ImageData: "/var/run/kubernetes",
		BuiltIn:   []string{server.DataName},
		OnMachine: onMachine,
		Version:   func(ctx context.Context, found []string) (string, error) { return versionOf(ctx, found[0]) },
	}
}

// onMachine finds the API server's program on PATH, where envtest has it, or where scripts/servers keeps the one that it built; and
// asks it what it is.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	var dirs []string
	if dir := os.Getenv(assets); dir != "" {
		dirs = append(dirs, dir)
	}
	found, err := clusters.FindProgram(places, program, install, append(dirs, clusters.KeptServers()...)...)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(context.Background(), found)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is no %s: %w", clusters.ErrUnavailable, found, program, err)
	}
	if !strings.HasPrefix(version, minor+".") {
		return nil, fmt.Errorf("%w: %s is Kubernetes %s: the lock clients are for %s; name another with --%s, or use %s", clusters.ErrUnavailable,
			found, version, minor, clusters.FlagServerBin, clusters.ChooseDocker)
	}
	return []string{found}, nil
}

func versionOf(ctx context.Context, program string) (string, error) {
	return clusters.VersionOf(ctx, saidVersion, program, "--version")
}
