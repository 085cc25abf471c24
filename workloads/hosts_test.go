package workloads

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/local"
	"lockcheck/nemesis/agent"
)

// envEnter makes the test binary enter namespaces before it does anything, as lockcheck run does.
const envEnter = "LOCKCHECK_TEST_ENTER"

// entered is the provider of a test binary that was asked to enter.
var entered *local.Provider

// onHost plays the parts that a test's program has when it enters namespaces or is started on a host. It returns false
// where it has none of them.
func onHost() bool {
	if os.Getenv(envEnter) != "" {
		provider, code, err := local.Enter()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(64)
		}
		if provider == nil {
			os.Exit(code)
		}
		os.Unsetenv(envEnter)
		entered = provider
	}
	if len(os.Args) < 2 {
		return false
	}
	part, ok := map[string]func() error{
		agent.Command:        func() error { return agent.Serve(os.Stdin, os.Stdout) },
		local.JanitorCommand: func() error { return local.Janitor(os.Args[2:]) },
	}[os.Args[1]]
	if !ok {
		return false
	}
	if err := part(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		local.Exit(1)
	}
	local.Exit(0)
	return true
}

// onHosts runs a test in a process that entered namespaces as the harness does.
func onHosts(t *testing.T, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	if entered != nil {
		site, err := entered.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := site.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		if isolated, why := site.Isolated(); !isolated {
			t.Fatalf("hosts have no networks of their own: %s", why)
		}
		test(t, site)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), envEnter+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatal("the test did not run inside")
	}
}

func newLink(t *testing.T, on *agents, site clusters.Site, name string) link {
	t.Helper()
	host, err := site.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return link{on, host}
}
