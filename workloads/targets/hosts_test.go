package targets

import (
	"os"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/nemesis/agent"
)

// helpers are what the test binary does when it is started on a host.
var helpers = testkit.Helpers{
	agent.Command: func([]string) error { return agent.Serve(os.Stdin, os.Stdout) },
}

func TestMain(m *testing.M) {
	backends.Begin(helpers)
	local.Exit(m.Run())
}

// onHosts runs a test in a process that entered namespaces as the harness does.
func onHosts(t *testing.T, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	backends.OnHosts(t, []uint32{testkit.Self()}, test)
}

func newLink(t *testing.T, on *Agents, site clusters.Site, name string) link {
	t.Helper()
	return link{on, testkit.Host(t, site, name)}
}
