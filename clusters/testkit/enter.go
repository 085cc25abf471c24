package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// envEnter makes the test binary enter namespaces before it does anything, as lockcheck run does.
const envEnter = "LOCKCHECK_TEST_ENTER"

// Enter enters, if the program was started by Command. It returns the provider of what it entered, nil elsewhere.
func Enter[P any](enter func() (*P, int, error)) *P {
	if os.Getenv(envEnter) == "" {
		return nil
	}
	provider, code, err := enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(64)
	}
	if provider == nil {
		os.Exit(code)
	}
	os.Unsetenv(envEnter)
	return provider
}

// Command is the test binary again, as a harness that this user started. It is not called by its path, which the user may
// not be let through.
func Command(uid uint32, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), envEnter+"=1")
	cmd.Dir = "/"
	if uid != Self() {
		cmd.SysProcAttr = as(uid)
	}
	return cmd
}

// Self is this user.
func Self() uint32 { return uint32(os.Geteuid()) }

// Nobody is the Linux user without rights.
const Nobody = 65534

// Again runs a test in a process of its own that entered as the harness does, with more in its environment.
func Again(t *testing.T, uid uint32, env ...string) {
	t.Helper()
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := Command(uid, "-test.run=^"+top+"$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "--- PASS: "+top) {
		t.Fatal("the test did not run inside")
	}
}
