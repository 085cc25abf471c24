package consul

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// place is where a server that a test stands in for is.
type place struct{ name, addr string }

func (p place) Name() string { return p.name }
func (p place) Addr() string { return p.addr }

// saying is a server that says who leads, and in which term. In term 0 it is silent.
func saying(t *testing.T, at place, leader place, term int) *node {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if term == 0 {
			<-r.Context().Done() // as one that waits for a paused leader
			return
		}
		fmt.Fprintf(w, `{"Config": {"Version": "1"}, "Stats": {"consul": {"leader_addr": %q}, "serf_lan": {"failed": "0"},
			"raft": {"term": "%d", "num_peers": "2", "commit_index": "9", "applied_index": "9"}}}`, leader.addr+":8300", term)
	}))
	t.Cleanup(server.Close)
	return &node{Node: at, http: server.Client(), base: server.URL}
}

func TestTheHighestTermSaysWhoLeads(t *testing.T) {
	n1, n2, n3, none := place{"n1", "10.0.0.1"}, place{"n2", "10.0.0.2"}, place{"n3", "10.0.0.3"}, place{}
	type said struct {
		leader place
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
			for i, at := range []place{n1, n2, n3} {
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
