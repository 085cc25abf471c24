package testkit

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// CheckLayout asks a backend for a layout, which has to have so many nodes, honour the TTL and have the settings that were asked
// for. If wrong is not empty, the backend has to refuse, in words that contain it, and there is no layout to return.
func CheckLayout(t *testing.T, backend clusters.Backend, opts clusters.Options, nodes int, wrong string) *clusters.Layout {
	t.Helper()
	layout, err := backend.Layout(opts)
	if wrong != "" {
		if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), wrong) {
			t.Errorf("got %v, want a usage error with %q", err, wrong)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(layout.Nodes) != nodes || layout.Nodes[0] != "n1" || layout.TTL != opts.TTL || layout.EffectiveTTL != opts.TTL {
		t.Errorf("got %+v", layout)
	}
	for name, value := range opts.Settings {
		if layout.Settings[name] != value {
			t.Errorf("%s is %q, want %q", name, layout.Settings[name], value)
		}
	}
	return &layout
}
