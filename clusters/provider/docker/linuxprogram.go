package docker

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"lockcheck/clusters"
)

// EnvLinuxBinary names the program that sandboxes, clients and the resource are in containers: lockcheck for Linux and the
// engine's processor. Unset it is this program, or one that is built, where this one cannot run in the engine.
const EnvLinuxBinary = "LOCKCHECK_LINUX_BINARY"

// selfPath is this program, even if its file was replaced or removed since it was started. On Linux only.
const selfPath = "/proc/self/exe"

// machines are the processors of programs that can be recognized, by Go's names.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "arm": elf.EM_ARM, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "riscv64": elf.EM_RISCV,
}

// obtainProgram finds or builds the clients' program for a processor; done removes what was built.
func obtainProgram(ctx context.Context, arch string, progress io.Writer) (path string, done func(), err error) {
	switch path := os.Getenv(EnvLinuxBinary); {
	case path != "":
		return path, func() {}, checkProgram(path, arch)
	case runsHere(arch):
		return selfPath, func() {}, nil
	}
	return buildProgram(ctx, arch, progress)
}

// programObtainable says why obtainProgram would fail, as far as that shows without building.
func programObtainable(ctx context.Context, arch string) error {
	switch path := os.Getenv(EnvLinuxBinary); {
	case path != "":
		return checkProgram(path, arch)
	case runsHere(arch):
		return nil
	}
	return buildable(ctx, arch)
}

// runsHere reports whether this program is one for Linux and that processor.
func runsHere(arch string) bool { return runtime.GOOS == "linux" && runtime.GOARCH == arch }

// checkProgram refuses a file that is no lockcheck for Linux and that processor.
func checkProgram(path, arch string) error {
	err := func() error {
		is, err := archOf(path)
		if err != nil {
			return err
		}
		if is != arch {
			return fmt.Errorf("it is for %s, and the engine's processor is %s", is, arch)
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return fmt.Errorf("it is no Go program: %w", err)
		}
		return ofLockcheck(info)
	}()
	if err != nil {
		return fmt.Errorf("%w: %s=%s: %w; build one with %s", clusters.ErrUsage, EnvLinuxBinary, path, err, buildCommand(arch))
	}
	return nil
}

// archOf is the processor that an ELF executable is for, in Go's words.
func archOf(path string) (string, error) {
	file, err := elf.Open(path)
	if os.IsNotExist(err) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("it is no ELF executable, as programs of Linux are: %w", err)
	}
	defer file.Close()
	if file.Type != elf.ET_EXEC && file.Type != elf.ET_DYN {
		return "", fmt.Errorf("it is an ELF file, but no executable (%v)", file.Type)
	}
	for arch, machine := range machines {
		if machine == file.Machine {
			return arch, nil
		}
	}
	return "", fmt.Errorf("it is for another processor (%v)", file.Machine)
}

// ofLockcheck refuses programs that cannot be a run's processes. A team's test binary can, if it imports lockcheck.
func ofLockcheck(info *buildinfo.BuildInfo) error {
	for _, setting := range info.Settings {
		if setting.Key == "GOOS" && setting.Value != "linux" {
			return fmt.Errorf("it is for %s, not for linux", setting.Value)
		}
	}
	imports := slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module })
	if info.Main.Path != module && !imports {
		return fmt.Errorf("it is %s, not lockcheck", info.Path)
	}
	return nil
}

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
