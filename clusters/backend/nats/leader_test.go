package nats

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"lockcheck/clusters/testkit"
)

// saying is a server that says who leads the bucket, and in which term. In term 0 it is silent.
func saying(t *testing.T, name, leader string, term int) *node {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case term == 0:
			<-r.Context().Done()
		case r.URL.Path == "/raftz":
			fmt.Fprintf(w, `{"$SYS": {"S": {"term": %d}}}`, term)
		default:
			fmt.Fprintf(w, `{"account_details": [{"stream_detail": [{"name": "other"}, {"name": "KV_lockcheck", "cluster": {"leader": %q, "raft_group": "S"}}]}]}`, leader)
		}
	}))
	t.Cleanup(server.Close)
	return newNode(testkit.Place{Called: name, At: "10.0.0.1"}, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	})
}

func TestTheHighestTermSaysWhoLeads(t *testing.T) {
	type said struct {
		leader string
		term   int
	}
	old, silent := said{"n1", 5}, said{}
	for name, c := range map[string]struct {
		said   [3]said
		leader string
	}{
		"all agree":                         {[3]said{{"n1", 5}, {"n1", 5}, {"n1", 5}}, "n1"},
		"the old one comes first":           {[3]said{old, {"n2", 6}, {"n2", 6}}, "n2"},
		"the old one comes last":            {[3]said{{"n2", 6}, {"n2", 6}, {"n3", 5}}, "n2"},
		"one has not heard who was elected": {[3]said{silent, {"", 6}, {"n2", 6}}, "n2"},
		"an election goes on":               {[3]said{old, {"", 6}, {"", 6}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var all cluster
			for i, s := range c.said {
				all.nodes = append(all.nodes, saying(t, fmt.Sprintf("n%d", i+1), s.leader, s.term))
			}
			if leader, err := all.Leader(t.Context()); err != nil || leader != c.leader {
				t.Errorf("got %q, %v; want %q", leader, err, c.leader)
			}
		})
	}
	all := &cluster{nodes: []*node{saying(t, "n1", "", 0), saying(t, "n2", "", 0)}}
	if leader, err := all.Leader(t.Context()); err == nil {
		t.Errorf("got %q where all are silent", leader)
	}
}
