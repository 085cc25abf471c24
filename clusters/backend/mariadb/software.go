package mariadb

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"

	"lockcheck/clusters"
)

const (
	program = "mariadbd"
	install = "RUNLEVEL=1 apt-get install mariadb-server, which then starts no service"
	debians = "/usr/sbin" // which is not on the PATH of every user
)

// saidVersion finds it in "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)".
var saidVersion = regexp.MustCompile(`Ver (\d+\.\d+\.\d+)-MariaDB`)

// Software says where servers come from: the official image, or a package on this machine.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "mariadb:10.11.11", InImage: []string{program}, ImageData: "/var/lib/mysql",
		OnMachine: onMachine, Version: version,
		Optional: []clusters.Optional{{Software: clusters.Software{Backend: galera, OnMachine: galeraOnMachine}, Setting: kind + "=" + galera}},
	}
}

func version(ctx context.Context, found []string) (string, error) {
	return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
}

// onMachine finds the server and the program that makes its data. MySQL has programs of the same names: it is asked.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	found, err := clusters.FindProgram(places, program, install, debians)
	if err != nil {
		return nil, err
	}
	if followed, err := filepath.EvalSymlinks(found); err == nil {
		found = followed
	}
	if _, err := version(context.Background(), []string{found}); err != nil {
		return nil, fmt.Errorf("%w: %s is not MariaDB: %w; name another with --%s=PATH, or use %s", clusters.ErrUnavailable, found, err,
			clusters.FlagServerBin, clusters.ChooseDocker)
	}
	if _, err := installer(found); err != nil {
		return nil, err
	}
	return []string{found}, nil
}

// installer is what makes the data of a server, where MariaDB's packages and archives have it.
func installer(server string) (string, error) {
	base := filepath.Dir(filepath.Dir(server))
	for _, dir := range []string{"bin", "scripts", "sbin"} {
		if found, err := exec.LookPath(filepath.Join(base, dir, "mariadb-install-db")); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%w: %s makes no server's data: in %s/bin or %s/scripts has to be mariadb-install-db", clusters.ErrUnavailable, server, base, base)
}
