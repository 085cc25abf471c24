//go:build linux && e2e

package docker

import (
	"encoding/json"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// processesSeen asks a program with an agent's capabilities, started on the process's host, for all that the process's target
// names.
func processesSeen(t *testing.T, h clusters.Host, p clusters.Process) (all []processSeen) {
	t.Helper()
	target, err := json.Marshal(clusters.TargetOf(p))
	if err != nil {
		t.Fatal(err)
	}
	command := clusters.Command{Args: []string{"processes", string(target)}, Log: "processes", Pipes: true}
	looker, err := h.(clusters.PrivilegedHost).StartAgent(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(testkit.ReadLine(t, looker.Stdout())), &all); err != nil {
		t.Fatal(err)
	}
	return all
}
