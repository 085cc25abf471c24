//go:build e2e

package zookeeper

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// role matches the lines of a server's log that say when it began to lead, to follow or to look for a leader, and why.
var role = regexp.MustCompile(`(?m)^.*(QuorumPeer - (LEADING|FOLLOWING|LOOKING)|Leader - Shutdown called|Exception when following| ERROR ).*$`)

// logRoles tells of a test that failed whether the shared servers kept their roles while it ran: their logs go with the last test. The lines may be
// of earlier tests, which changed the roles themselves.
func logRoles(t *testing.T) {
	if !t.Failed() || shared.cluster == nil {
		return
	}
	for _, n := range shared.cluster.nodes {
		text, err := os.ReadFile(n.Process().(clusters.Logged).LogPath())
		if err != nil {
			t.Error(err)
			continue
		}
		lines := role.FindAllString(string(text), -1)
		t.Logf("%s:\n%s", n.Name(), strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
}
