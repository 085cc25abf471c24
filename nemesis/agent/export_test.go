//go:build linux

package agent

import "testing"

// KillAgent ends the agent's process with SIGKILL: it takes nothing back itself.
func (a *Agent) KillAgent(t *testing.T) error { return a.process.Kill(t.Context()) }
