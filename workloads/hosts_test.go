package workloads

import (
	"os"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/hosttest"
	"lockcheck/clusters/local/localtest"
	"lockcheck/nemesis/agent"
)

// helpers are what the test binary does when it is started on a host.
var helpers = hosttest.Helpers{
	agent.Command: func([]string) error { return agent.Serve(os.Stdin, os.Stdout) },
}

// onHosts runs a test in a process that entered namespaces as the harness does.
func onHosts(t *testing.T, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	localtest.OnHosts(t, []uint32{hosttest.Self()}, test)
}

func newLink(t *testing.T, on *agents, site clusters.Site, name string) link {
	t.Helper()
	return link{on, hosttest.Host(t, site, name)}
}
