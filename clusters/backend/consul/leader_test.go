package consul

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockcheck/clusters/testkit"
)

// standIn is a server that answers what a test wants.
func standIn(t *testing.T, at testkit.Place, answer http.HandlerFunc) *node {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return &node{Node: at, http: server.Client(), base: server.URL}
}

// saying is a server that says who leads, and in which term. In term 0 it is silent.
func saying(t *testing.T, at, leader testkit.Place, term int) *node {
	t.Helper()
	return standIn(t, at, func(w http.ResponseWriter, r *http.Request) {
		if term == 0 {
			<-r.Context().Done() // as one that waits for a paused leader
			return
		}
		fmt.Fprintf(w, `{"Config": {"Version": "1"}, "Stats": {"consul": {"leader_addr": %q}, "serf_lan": {"failed": "0"},
			"raft": {"term": "%d", "num_peers": "2", "commit_index": "9", "applied_index": "9"}}}`, leader.At+":8300", term)
	})
}

var n1, n2, n3 = testkit.Place{Called: "n1", At: "10.0.0.1"}, testkit.Place{Called: "n2", At: "10.0.0.2"}, testkit.Place{Called: "n3", At: "10.0.0.3"}

func TestTheHighestTermSaysWhoLeads(t *testing.T) {
	none := testkit.Place{}
	type said struct {
		leader testkit.Place
		term   int
	}
	old, silent := said{n1, 5}, said{none, 0}
	for name, c := range map[string]struct {
		said   [3]said
		leader string
		term   int64
	}{
		"all agree":                         {[3]said{{n1, 5}, {n1, 5}, {n1, 5}}, "n1", 5},
		"the old one comes first":           {[3]said{old, {n2, 6}, {n2, 6}}, "n2", 6},
		"the old one comes last":            {[3]said{{n2, 6}, {n2, 6}, {n3, 5}}, "n2", 6},
		"one that runs is silent":           {[3]said{old, silent, {n2, 6}}, "n2", 6},
		"one has not heard who was elected": {[3]said{silent, {none, 6}, {n2, 6}}, "n2", 6},
		"an election goes on":               {[3]said{old, {none, 6}, {none, 6}}, "", 6},
	} {
		t.Run(name, func(t *testing.T) {
			var all cluster
			for i, at := range []testkit.Place{n1, n2, n3} {
				all.nodes = append(all.nodes, saying(t, at, c.said[i].leader, c.said[i].term))
			}
			if leader, term, err := all.leaderAndTerm(t.Context()); err != nil || leader != c.leader || term != c.term {
				t.Errorf("got %q in term %d, %v; want %q in term %d", leader, term, err, c.leader, c.term)
			}
		})
	}
	all := &cluster{nodes: []*node{saying(t, n1, none, 0), saying(t, n2, none, 0)}}
	if leader, err := all.Leader(t.Context()); err == nil {
		t.Errorf("got %q where all are silent", leader)
	}
}

// Before that one of them may be silent while the leader is paused.
func TestServersAreReadyOnceTheyHaveRegisteredThemselves(t *testing.T) {
	const own, byTheLeader = `{"Node": %q, "TaggedAddresses": {"lan": "10.0.0.9"}}`, `{"Node": %q, "TaggedAddresses": null}`
	for name, c := range map[string]struct{ second, wrong string }{
		"all have":                     {fmt.Sprintf(own, "n2"), ""},
		"the leader entered one":       {fmt.Sprintf(byTheLeader, "n2"), "n2 has not registered itself"},
		"one is not there":             {fmt.Sprintf(own, "another"), "n2 has not registered itself"},
		"the catalogue cannot be read": {"{", "the catalogue of n1"},
	} {
		t.Run(name, func(t *testing.T) {
			first := standIn(t, n1, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "[%s, %s]", fmt.Sprintf(own, "n1"), c.second)
			})
			err := (&cluster{nodes: []*node{first, {Node: n2}}}).registered(t.Context())
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
		})
	}
}
