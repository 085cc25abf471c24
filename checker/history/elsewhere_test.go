package history

import (
	"strings"
	"testing"
)

// Servers of the provider local run on this machine: what is not known there is the clients' kernel.
func TestWhyClocksAreNotCompared(t *testing.T) {
	for want, plan := range map[string]Plan{
		"a lock client did not name": {Provider: "local"},
		"on another machine":         {Provider: "docker"},
		"others run the servers":     {Provider: "local", Attached: &Attached{}},
	} {
		if got := plan.ElsewhereWords(); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", plan, got)
		}
	}
}
