package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"lockcheck/clusters"
)

const (
	askTimeout = 400 * time.Millisecond // for one server to say how it is; a paused one takes for ever
	lookEvery  = 20 * time.Millisecond  // while something is waited for

	// called is what errors call a server.
	called = "NATS server"
)

// node is a server and how the harness asks it: by its monitoring port how it is, and as a client for all else.
type node struct {
	clusters.Node
	dial clusters.Dialer
	http *http.Client
}

func newNode(at clusters.Node, dial clusters.Dialer) *node {
	// No proxy: the run's network is private. No connection is kept: it is lost with its server.
	return &node{at, dial, &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func (n *node) endpoint() string { return net.JoinHostPort(n.Addr(), clientPort) }

// as asks it as a client.
func (n *node) as(ctx context.Context, question func(context.Context, session) error) error {
	return ask(ctx, n.endpoint(), n.dial, nil, question)
}

// get asks the monitoring port.
func (n *node) get(ctx context.Context, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(n.Addr(), httpPort)+path, nil)
	if err != nil {
		return err
	}
	resp, err := n.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// group is servers that replicate one thing, as one of them sees them.
type group struct {
	Leader   string `json:"leader"` // "" for none
	Raft     string `json:"raft_group"`
	Replicas []struct {
		Name    string `json:"name"`
		Current bool   `json:"current"`
		Offline bool   `json:"offline"`
	} `json:"replicas"` // the others, of which only the leader knows how they are
}

// status is what one server says of itself.
type status struct {
	meta   group  // of all servers; without a leader where one stands alone
	stream *group // of the bucket; nil if the server does not know the bucket
	term   uint64 // of that group; 0 for a bucket with one replica
}

func (n *node) status(ctx context.Context) (s status, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var all struct {
		Meta     group `json:"meta_cluster"`
		Accounts []struct {
			Streams []struct {
				Name    string `json:"name"`
				Cluster group  `json:"cluster"`
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if err := n.get(ctx, "/jsz?streams=1", &all); err != nil {
		return s, err
	}
	s.meta = all.Meta
	for _, account := range all.Accounts {
		for _, stream := range account.Streams {
			if stream.Name == "KV_"+bucketName {
				s.stream = &stream.Cluster
			}
		}
	}
	if s.stream == nil || s.stream.Raft == "" {
		return s, nil
	}
	var rafts map[string]map[string]struct {
		Term uint64 `json:"term"`
	}
	err = n.get(ctx, "/raftz?group="+s.stream.Raft, &rafts)
	for _, account := range rafts {
		s.term = max(s.term, account[s.stream.Raft].Term)
	}
	return s, err
}

var errNoVersion = errors.New("it says no version")

func (n *node) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var said struct{ Version string }
	err := n.get(ctx, "/varz", &said)
	if err == nil && said.Version == "" {
		err = errNoVersion
	}
	return said.Version, err
}
