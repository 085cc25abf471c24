package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"lockcheck/clusters"
)

const (
	module = "lockcheck"
	// programPackage is the program that is built for containers.
	programPackage = module + "/cmd/lockcheck"
)

func buildCommand(arch string) string {
	return fmt.Sprintf("CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o lockcheck-linux ./cmd/lockcheck", arch)
}

// buildable says why the program for a processor cannot be built here: that takes the Go toolchain and lockcheck's source, and
// this program must be lockcheck itself, because another one, a test binary, has lock clients that lockcheck has not.
func buildable(ctx context.Context, arch string) error {
	err := func() error {
		if info, ok := debug.ReadBuildInfo(); ok && info.Path != programPackage {
			return fmt.Errorf("it cannot be built, because this program is %s (of a test: GOOS=linux GOARCH=%s CGO_ENABLED=0 go test -c)", info.Path, arch)
		}
		return sourceHere(ctx)
	}()
	if err != nil {
		return fmt.Errorf("%w: containers need lockcheck for linux/%s, and this one is for %s/%s: %w; build it with %s, and set %s to it",
			clusters.ErrUnavailable, arch, runtime.GOOS, runtime.GOARCH, err, buildCommand(arch), EnvLinuxBinary)
	}
	return nil
}

// sourceHere says why the Go toolchain cannot build lockcheck from the working directory.
func sourceHere(ctx context.Context) error {
	list, err := goTool(ctx, "list", programPackage)
	if err != nil {
		return err
	}
	if said, err := list.CombinedOutput(); err != nil {
		return fmt.Errorf("lockcheck's source is not found from the working directory (%w: %s)", err, strings.TrimSpace(string(said)))
	}
	return nil
}

func goTool(ctx context.Context, args ...string) (*exec.Cmd, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("there is no Go toolchain to build it: %w", err)
	}
	return exec.CommandContext(ctx, tool, args...), nil
}

// buildProgram builds lockcheck from the working directory. done removes it.
func buildProgram(ctx context.Context, arch string, progress io.Writer) (path string, done func(), err error) {
	if err := buildable(ctx, arch); err != nil {
		return "", nil, err
	}
	fmt.Fprintf(progress, "docker: building lockcheck for linux/%s\n", arch)
	return buildFrom(ctx, "", arch)
}

// buildFrom builds the program from the source that a directory leads to.
func buildFrom(ctx context.Context, source, arch string) (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "lockcheck-build-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "lockcheck")
	build, err := goTool(ctx, "build", "-trimpath", "-o", path, programPackage)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	build.Dir, build.Env = source, append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		done()
		return "", nil, fmt.Errorf("%w: building lockcheck for linux/%s: %w: %s", clusters.ErrUnavailable, arch, err, strings.TrimSpace(string(said)))
	}
	return path, done, nil
}
