//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"lockcheck/clusters/backend/kubernetes"
)

// plantedElector is the lock clients' program of kubernetes with the planted defects.
var plantedElector string

// buildElectors builds the lock clients of kubernetes once for all runs, which else would each build them where they have none: as users
// get them, and with the planted defects.
func buildElectors(dir string) error {
	program := filepath.Join(dir, "elector")
	plantedElector = filepath.Join(dir, "elector-planted")
	for _, args := range [][]string{{"-o", program}, {"-tags", "planted", "-o", plantedElector}} {
		build := exec.Command("go", append(append([]string{"build", "-trimpath"}, args...), ".")...)
		build.Dir, build.Env = "../../clusters/backend/kubernetes/elector", append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building the lock clients of kubernetes: %w\n%s", err, out)
		}
	}
	return os.Setenv(kubernetes.EnvClient, program)
}

// command is one of the programs under test: the elector of the one with planted defects has them, too.
func command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	if program == planted {
		cmd.Env = append(os.Environ(), kubernetes.EnvClient+"="+plantedElector)
	}
	return cmd
}
