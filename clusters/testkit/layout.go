package testkit

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// Layout is a layout that a test asks a backend for.
type Layout struct {
	Name  string
	Opts  clusters.Options
	Nodes int
	Wrong string // part of the error; empty if there is none
}

// CheckLayouts asks a backend for layouts. Each has to have so many nodes, honour the TTL and have the settings that were asked for; also
// looks at the rest. If Wrong is not empty, the backend has to refuse, in words that contain it.
func CheckLayouts(t *testing.T, backend clusters.Backend, all []Layout, also func(*testing.T, Layout, clusters.Layout)) {
	for _, want := range all {
		t.Run(want.Name, func(t *testing.T) {
			layout, err := backend.Layout(want.Opts)
			if want.Wrong != "" {
				if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), want.Wrong) {
					t.Errorf("got %v, want a usage error with %q", err, want.Wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(layout.Nodes) != want.Nodes || layout.Nodes[0] != "n1" || layout.TTL != want.Opts.TTL || layout.EffectiveTTL != want.Opts.TTL {
				t.Errorf("got %+v", layout)
			}
			for name, value := range want.Opts.Settings {
				if layout.Settings[name] != value {
					t.Errorf("%s is %q, want %q", name, layout.Settings[name], value)
				}
			}
			also(t, want, layout)
		})
	}
}
