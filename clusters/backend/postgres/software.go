package postgres

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"lockcheck/clusters"
)

const (
	program = "postgres"
	install = "apt-get install postgresql-15, with create_main_cluster = false in /etc/postgresql-common/createcluster.conf before it"
	// debians is where Debian has each version's programs.
	debians = "/usr/lib/postgresql/*/bin"
)

// saidVersion finds it in "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
var saidVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+\.\d+)`)

// Software says where servers come from: the official image, or a package on this machine. The programs that make a server's
// data are beside the server's.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name, Image: "postgres:15.8", InImage: []string{program}, ImageData: "/var/lib/postgresql/data",
		OnMachine: onMachine,
		Version: func(ctx context.Context, found []string) (string, error) {
			return clusters.VersionOf(ctx, saidVersion, found[0], "--version")
		},
		Optional: []clusters.Optional{{Software: poolerSoftware(), Setting: pooler + "=" + perSession}},
	}
}

// onMachine finds the newest server where Debian has them, or the one on PATH. A link on PATH is followed: it may be the only
// program of its directory.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	if dir := newest(debians); places.Bin == "" && dir != "" {
		places.Bin = dir
	}
	found, err := clusters.FindProgram(places, program, install, debians)
	if err != nil {
		return nil, err
	}
	if followed, err := filepath.EvalSymlinks(found); err == nil {
		found = followed
	}
	for _, beside := range []string{"initdb", "pg_basebackup"} {
		if _, err := exec.LookPath(filepath.Join(filepath.Dir(found), beside)); err != nil {
			return nil, fmt.Errorf("%w: %s makes no server's data: beside it has to be %s: %w", clusters.ErrUnavailable, found, beside, err)
		}
	}
	return []string{found}, nil
}

// newest is the directory of the highest version that has a server, "" if none has.
func newest(pattern string) string {
	found, _ := filepath.Glob(filepath.Join(pattern, program))
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return versionIn(a) - versionIn(b) }))
}

// versionIn reads a major version from a path such as /usr/lib/postgresql/15/bin/postgres.
func versionIn(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}
