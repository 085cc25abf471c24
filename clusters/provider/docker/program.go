package docker

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

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
