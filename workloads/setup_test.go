package workloads

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// place is a site that can only say whether its hosts have networks of their own.
type place struct {
	clusters.Site
	isolated bool
}

func (p place) Isolated() (bool, string) { return p.isolated, "run as root" }

func TestANemesisThatNeedsANetworkIsRefusedWithoutOne(t *testing.T) {
	cases := []struct {
		name            string
		needs, isolated bool
		refused         bool
		log             string
	}{
		{"needs it and has it", true, true, false, ""},
		{"needs it and has none", true, false, true, ""},
		{"does without", false, false, false, "all hosts share the loopback network: run as root\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			r := New(Config{Plan: history.Plan{Nemesis: "partition"}, NeedsNetwork: c.needs, Log: &log})
			r.site = place{isolated: c.isolated}
			err := r.checkNetwork()
			if (err != nil) != c.refused || log.String() != c.log {
				t.Errorf("refused: %v, log %q", err, log.String())
			}
			if c.refused && (!errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "partition") || !strings.Contains(err.Error(), "run as root")) {
				t.Errorf("%v: want the nemesis by name, and the way out", err)
			}
		})
	}
}
