package s3

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

const ttl = 2 * time.Second

func TestLayout(t *testing.T) {
	testkit.CheckLayouts(t, Backend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: ttl}, Nodes: 1},
		{Name: "two gateways", Opts: clusters.Options{TTL: ttl, Nodes: 2}, Nodes: 2},
		{Name: "another region", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{region: "eu-central-1"}}, Nodes: 1},
		{Name: "three gateways", Opts: clusters.Options{TTL: ttl, Nodes: 3}, Wrong: "use 1, or 2 on one directory"},
		{Name: "a fraction", Opts: clusters.Options{TTL: ttl + 600*time.Microsecond}, Wrong: "the nearest it can is 2.001s"},
		{Name: "too short", Opts: clusters.Options{TTL: 100 * time.Millisecond}, Wrong: "the nearest it can is 200ms"},
		{Name: "no region", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{region: "<x>"}}, Wrong: "is no region"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: ttl, Settings: map[string]string{"regio": "x"}}, Wrong: region},
	}, func(t *testing.T, want testkit.Layout, layout clusters.Layout) {
		if shared := want.Nodes > 1; (layout.Diskless != "") != shared || layout.LeaseClock != history.ClockOfClients || layout.Election != 0 {
			t.Errorf("got %+v", layout)
		}
	})
}
