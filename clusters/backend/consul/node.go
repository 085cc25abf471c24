package consul

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lockcheck/clusters"
)

const (
	// askTimeout is how long one server may take to say how it is. A paused one takes for ever. One that runs may be silent, too: until
	// it has registered itself in the catalogue, /v1/agent/self waits for the same lock (agent/local, State.SyncChanges), and the leader
	// that is to register it may be paused or cut off. Ready waits for that.
	askTimeout = 400 * time.Millisecond
	// lookEvery is how often is looked while something is waited for.
	lookEvery = 20 * time.Millisecond
)

// node is a server and how the harness asks it: by its HTTP interface, over connections of its own.
type node struct {
	clusters.Node
	http  *http.Client
	base  string // of URLs
	token string // "" for none
}

func newNode(at clusters.Node, dial clusters.Dialer) *node {
	n := &node{Node: at, http: connecting(dial, nil)}
	n.base = "http://" + n.endpoint()
	return n
}

// connecting makes its connections by a dialer, and speaks TLS over them unless config is nil.
func connecting(dial clusters.Dialer, config *tls.Config) *http.Client {
	// No proxy: the run's network is private, even if the environment names one. No connection is kept: it is lost with its
	// server.
	return &http.Client{Transport: &http.Transport{DialContext: dial, TLSClientConfig: config, DisableKeepAlives: true}, CheckRedirect: noRedirect}
}

func (n *node) endpoint() string { return net.JoinHostPort(n.Addr(), httpPort) }

// failure is an answer that is not 200 OK.
type failure struct {
	asked  string // method and path
	status int
	said   string
	header http.Header
}

func (r *failure) Error() string {
	return fmt.Sprintf("%s: %d %s: %.200s", r.asked, r.status, http.StatusText(r.status), r.said)
}

// ask sends one request and decodes the answer, unless answer is nil. An answer other than 200 is a *failure.
func (n *node) ask(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, n.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if n.token != "" {
		req.Header.Set(tokenHeader, n.token)
	}
	resp, err := n.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return &failure{method + " " + path, resp.StatusCode, string(bytes.TrimSpace(said)), resp.Header}
	case answer == nil:
		return nil
	}
	return json.Unmarshal(said, answer)
}

// status is what one server says of itself.
type status struct {
	version string
	term    int64
	leads   bool   // it is the leader, as far as it knows
	leader  string // the address of the one that it takes for the leader, "" for none
	others  int    // servers that it counts as voters beside itself
	failed  int    // members that it takes for failed

	committed, applied int64 // up to which entry of the log
}

func (n *node) status(ctx context.Context) (status, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var self struct {
		Config struct{ Version string }
		Stats  map[string]map[string]string
	}
	if err := n.ask(ctx, http.MethodGet, "/v1/agent/self", nil, &self); err != nil {
		return status{}, err
	}
	raft := self.Stats["raft"]
	term, err1 := strconv.ParseInt(raft["term"], 10, 64)
	others, err2 := strconv.Atoi(raft["num_peers"])
	failed, err3 := strconv.Atoi(self.Stats["serf_lan"]["failed"])
	committed, err4 := strconv.ParseInt(raft["commit_index"], 10, 64)
	applied, err5 := strconv.ParseInt(raft["applied_index"], 10, 64)
	leader, _, _ := strings.Cut(self.Stats["consul"]["leader_addr"], ":")
	return status{
		version: self.Config.Version, term: term, leads: raft["state"] == "Leader", leader: leader, others: others, failed: failed,
		committed: committed, applied: applied,
	}, errors.Join(err1, err2, err3, err4, err5)
}

// write makes a plain write past any lock.
func (n *node) write(ctx context.Context, key, value string) error {
	return n.ask(ctx, http.MethodPut, "/v1/kv/"+key, []byte(value), nil)
}

// read reads what was written last.
func (n *node) read(ctx context.Context, key string) (string, error) {
	var entries []struct{ Value []byte }
	err := n.ask(ctx, http.MethodGet, "/v1/kv/"+key+"?consistent", nil, &entries)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("it has %d entries of that name", len(entries))
	}
	if err != nil {
		return "", err
	}
	return string(entries[0].Value), nil
}

// trySession has the server make a session as lock clients do, whose TTL has to be the one asked for, and ends it.
func (n *node) trySession(ctx context.Context, ttl time.Duration) error {
	var made struct{ ID string }
	if err := n.ask(ctx, http.MethodPut, "/v1/session/create", fmt.Appendf(nil, `{"TTL": %q}`, milliseconds(ttl)), &made); err != nil {
		return err
	}
	var infos []struct{ TTL string }
	err := n.ask(ctx, http.MethodGet, "/v1/session/info/"+made.ID+"?consistent", nil, &infos)
	if err == nil && (len(infos) != 1 || duration(infos[0].TTL) != ttl) {
		err = fmt.Errorf("asked for a session of %v, it made %v", ttl, infos)
	}
	return errors.Join(err, n.ask(ctx, http.MethodPut, "/v1/session/destroy/"+made.ID, nil, nil))
}

// milliseconds is a time as Consul reads it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// alive is an error if the server's process has ended.
func (n *node) alive() error { return clusters.Ended(n.Node, called) }

// called is what errors call a server.
const called = "Consul server"
