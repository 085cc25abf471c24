package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// module is lockcheck's own.
const module = "lockcheck"

// commit is what this program was built from, where the linker is told because Go does not find out (scripts/image/commit.sh).
var commit string

// Version is lockcheck's own: the module's version where it was installed from one or is a dependency of this program,
// else the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path != module { // a team's own test binary
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	if commit != "" {
		return commit
	}
	return info.Main.Version
}

// HostFacts are what a reader of a report wants to know of the machine.
func HostFacts() map[string]string {
	facts := map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH, "cpus": strconv.Itoa(runtime.NumCPU())}
	if release := kernel(); release != "" {
		facts["kernel"] = release
	}
	return facts
}

// runID names a run among all others on this machine.
func runID(seed int64) string {
	return fmt.Sprintf("%s-%d-%d", strings.ToLower(time.Now().UTC().Format("20060102T150405Z")), seed, os.Getpid())
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
