//go:build e2e && linux

package delay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/nemesis/testkit"
)

// TestMain also starts a kernel, and runs as its first and only process.
func TestMain(m *testing.M) {
	if kernel := os.Getenv(envKernel); kernel != "" {
		fmt.Println("start:", startKernel(kernel, os.Args[1:]))
		os.Exit(1)
	}
	if os.Getpid() != 1 {
		os.Exit(m.Run())
	}
	if err := boot(os.Getenv(envModules)); err != nil {
		fmt.Println("boot:", err)
	} else {
		fmt.Println("exit", m.Run())
	}
	fmt.Println(unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)) // returns only if it fails
}

// envModules are the files of the modules that boot loads, in this order.
const envModules = "LOCKCHECK_TEST_MODULES"

func boot(modules string) error {
	for at, kind := range map[string]string{"/proc": "proc", "/sys": "sysfs"} {
		if err := unix.Mount(kind, at, kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", at, err)
		}
	}
	for _, name := range filepath.SplitList(modules) {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(file.Fd()), "", 0)
		if file.Close(); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("load %s: %w", name, err)
		}
	}
	return nil
}

// umlModules is where Debian's package user-mode-linux has the modules of its kernel.
const umlModules = "/usr/lib/uml/modules/*/kernel"

// onOtherKernel runs tests of this package on Debian's user-mode Linux with some modules, in its only network, and returns what they printed. The
// machine's files are there, read-only; its network is not.
func onOtherKernel(t *testing.T, tests string, modules ...string) string {
	t.Helper()
	kernel, err := exec.LookPath("linux.uml")
	dirs, _ := filepath.Glob(umlModules)
	if err != nil || len(dirs) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no user-mode Linux, which has the netem that most kernels have and this one may lack: %v, modules in %v", err, dirs)
		}
		t.Skip("no user-mode Linux (on Debian: apt-get install user-mode-linux), which has netem and no nfnetlink_queue")
	}
	for i, name := range modules {
		modules[i] = filepath.Join(dirs[len(dirs)-1], name+".ko")
	}
	bounded, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	first := filepath.Join(t.TempDir(), "delay.test") // without the race detector, which needs more memory than that kernel gives it
	build := exec.CommandContext(bounded, "go", "test", "-c", "-tags=e2e", "-vet=off", "-o", first, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // a C library chooses its AVX by itself: see withoutAVX
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(bounded, first, "mem=256M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null", "con0=null,fd:1", "uml_dir="+t.TempDir()+"/",
		"init="+first, envModules+"="+strings.Join(modules, string(filepath.ListSeparator)), testkit.EnvInside+"=1", withoutAVX, "--", "-test.v", "-test.run="+tests)
	cmd.Env = append(os.Environ(), envKernel+"="+kernel)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its own processes
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "exit 0") {
		t.Fatalf("on user-mode Linux: %v\n%s", err, out)
	}
	return string(out)
}

// What the kernel under these tests may lack, another has: there what is asked of a delay holds by netem, too, and it is what Start uses.
func TestDelaysOfAKernelThatHasNetemAlone(t *testing.T) {
	out := onOtherKernel(t, "^(TestPacketsAreHeldInTheWaysThatWereAskedFor|TestWhatIsHeldGoesOnAtTheEnd|TestTheKernelIsAskedWhatItHas)$",
		"drivers/net/ifb", "net/sched/sch_ingress", "net/sched/cls_u32", "net/sched/act_mirred", "net/sched/sch_netem")
	for _, want := range []string{"--- PASS: TestPacketsAreHeldInTheWaysThatWereAskedFor/netem", "--- PASS: TestWhatIsHeldGoesOnAtTheEnd/netem", "held back by netem"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q:\n%s", want, out)
		}
	}
}
