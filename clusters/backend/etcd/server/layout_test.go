package server

import (
	"slices"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

func TestLayout(t *testing.T) {
	testkit.CheckLayouts(t, testBackend{}, []testkit.Layout{
		{Name: "default", Opts: clusters.Options{TTL: 2 * time.Second}, Nodes: 3},
		{Name: "shortest lease of the default settings", Opts: clusters.Options{TTL: time.Second}, Nodes: 3},
		{Name: "five members", Opts: clusters.Options{Nodes: 5, TTL: 10 * time.Second}, Nodes: 5},
		{Name: "no member", Opts: clusters.Options{Nodes: -1, TTL: 2 * time.Second}, Wrong: "use 1 to 7"},
		{Name: "too many members", Opts: clusters.Options{Nodes: 9, TTL: 2 * time.Second}, Wrong: "use 1 to 7"},
		{Name: "half a second", Opts: clusters.Options{TTL: 500 * time.Millisecond}, Wrong: "the nearest it can is 1s"},
		{Name: "one and a half", Opts: clusters.Options{TTL: 1500 * time.Millisecond}, Wrong: "the nearest it can is 2s"},
		{Name: "etcd's own times make 1 s a 2 s", Opts: clusters.Options{TTL: time.Second, Settings: map[string]string{"heartbeat-interval": "100", "election-timeout": "1000"}}, Wrong: "at least 2s"},
		{Name: "a slow cluster", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"election-timeout": "5000"}}, Wrong: "the nearest it can is 8s"},
		{Name: "unknown setting", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"tick": "1"}}, Wrong: "there are: heartbeat-interval, election-timeout"},
		{Name: "bad number", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"heartbeat-interval": "0"}}, Wrong: "setting heartbeat-interval: \"0\" is no whole number from 10 to 10000"},
		{Name: "bad flag", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"pre-vote": "yes"}}, Wrong: "none of true, false"},
		{Name: "election too short", Opts: clusters.Options{TTL: 2 * time.Second, Settings: map[string]string{"election-timeout": "200"}}, Wrong: "less than 5 times"},
	}, func(t *testing.T, _ testkit.Layout, layout clusters.Layout) {
		if len(layout.Settings) != len(Settings) {
			t.Errorf("settings are not complete: %v", layout.Settings)
		}
	})
}

// Measured on real members; TestGrantedTTL measures again.
func TestMinTTL(t *testing.T) {
	for _, c := range []struct{ heartbeat, election, want int }{
		{100, 1000, 2}, {50, 500, 1}, {50, 600, 1}, {100, 600, 1}, {100, 700, 1}, {500, 5000, 8}, {100, 550, 1},
	} {
		times := times{time.Duration(c.heartbeat) * time.Millisecond, time.Duration(c.election) * time.Millisecond}
		if got := times.minTTL(); got != time.Duration(c.want)*time.Second {
			t.Errorf("%d/%d ms: %v, want %d s", c.heartbeat, c.election, got, c.want)
		}
	}
}

func TestAMemberIsToldInEtcdsOwnFlags(t *testing.T) {
	values, err := resolve(map[string]string{"election-timeout": "1000"})
	if err != nil {
		t.Fatal(err)
	}
	m := member{name: "n1", addr: "10.0.0.2", data: "/data", peers: []peer{{"n1", "10.0.0.2"}, {"n2", "10.0.0.3"}}, values: values}
	server := clusters.Command{Program: "etcd", Args: []string{"before"}}
	for _, test := range []struct {
		joins bool
		state string
	}{{false, "new"}, {true, "existing"}} {
		m.joins = test.joins
		want := []string{
			"before", "--name=n1", "--data-dir=/data",
			"--listen-peer-urls=http://10.0.0.2:2380", "--initial-advertise-peer-urls=http://10.0.0.2:2380",
			"--listen-client-urls=http://10.0.0.2:2379", "--advertise-client-urls=http://10.0.0.2:2379",
			"--initial-cluster=n1=http://10.0.0.2:2380,n2=http://10.0.0.3:2380", "--initial-cluster-state=" + test.state,
			"--initial-cluster-token=lockcheck-10.0.0.2-10.0.0.3",
			"--heartbeat-interval=50", "--election-timeout=1000", "--pre-vote=true", "--snapshot-count=10000",
			"--quota-backend-bytes=536870912", "--unsafe-no-fsync=false", "--log-level=info",
		}
		if got := m.complete(server).Args; !slices.Equal(got, want) {
			t.Errorf("got\n%q, want\n%q", got, want)
		}
	}
	if len(server.Args) != 1 {
		t.Errorf("the command that all members share was changed: %q", server.Args)
	}
}
