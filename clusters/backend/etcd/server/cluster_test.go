package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// provider is that of the namespaces which the test binary entered: the tests are a harness.
var provider *local.Provider

func TestMain(m *testing.M) {
	provider = backends.Harness(testkit.Helpers{
		"node": func(args []string) error { return testBackend{}.RunNode(context.Background(), args[1:]) },
	})
	local.Exit(m.Run())
}

// testBackend is the members without lock clients.
type testBackend struct{ Members }

func (testBackend) About() string                  { return "" }
func (testBackend) Clients() []clusters.LockClient { return nil }

func open(t *testing.T) clusters.Site {
	t.Helper()
	return testkit.Open(t, provider, testBackend{}.Software())
}

func layout(t *testing.T, opts clusters.Options) clusters.Layout {
	t.Helper()
	l, err := testBackend{}.Layout(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Process is the process of a member that a test launched.
func (n *node) Process() clusters.Process { return n.Node.(*launched).Process() }

// Restart starts such a member again.
func (n *node) Restart(ctx context.Context, empty bool) error {
	return n.Node.(*launched).Restart(ctx, empty)
}

// run starts a cluster for a test.
func run(t *testing.T, opts clusters.Options) *Cluster {
	t.Helper()
	started, err := clusters.Start(t.Context(), testBackend{}, open(t), layout(t, opts), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c := started.(*Cluster)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Three members start one after the other and then elect; they wait for nothing that could be spared. What one start
// takes is measured before and after on the same machine, which is as busy with other things. (On an idle one the bound
// is some 4 s; they take 0.6.)
func TestThreeMembersGetReadyInTime(t *testing.T) {
	one := func() time.Duration {
		begun := time.Now()
		run(t, clusters.Options{Nodes: 1, TTL: 2 * time.Second})
		return time.Since(begun)
	}
	alone := one()
	var progress bytes.Buffer
	begun := time.Now()
	started, err := clusters.Start(t.Context(), testBackend{}, open(t), layout(t, clusters.Options{TTL: 2 * time.Second}), &progress)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	alone = max(alone, one())
	t.Logf("ready after %v, one member alone after %v\n%s", took, alone, &progress)
	if bound := 3*alone + layout(t, clusters.Options{TTL: 2 * time.Second}).Election; took > bound {
		t.Errorf("ready after %v, want at most %v", took, bound)
	}
	c := started.(*Cluster)
	t.Cleanup(func() { _ = c.Close() })
	if !strings.Contains(progress.String(), "etcd: started n1 on ") || !strings.Contains(progress.String(), " leads") {
		t.Errorf("progress: %q", &progress)
	}
	if got := len(started.Nodes()); got != 3 || len(started.Endpoints()) != 3 {
		t.Errorf("%d nodes, endpoints %v", got, started.Endpoints())
	}
	versions, err := started.Versions(t.Context())
	if err != nil || !strings.HasPrefix(versions["etcd"], "3.") {
		t.Errorf("versions %v, %v", versions, err)
	}
	if err := started.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	leader, err := c.Leader(t.Context())
	if err != nil || !strings.HasPrefix(leader, "n") {
		t.Errorf("leader %q, %v", leader, err)
	}
}

// What Layout computes is what real members grant, also where it refuses.
func TestGrantedTTL(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]string
	}{
		{"default", nil},
		{"etcd's own", map[string]string{"heartbeat-interval": "100", "election-timeout": "1000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := run(t, clusters.Options{Nodes: 1, TTL: 2 * time.Second, Settings: c.settings})
			for ttl := int64(1); ttl <= 3; ttl++ {
				got, err := pb.NewLeaseClient(cluster.nodes[0].conn).LeaseGrant(t.Context(), &pb.LeaseGrantRequest{TTL: ttl})
				if err != nil {
					t.Fatal(err)
				}
				_, refused := testBackend{}.Layout(clusters.Options{TTL: time.Duration(ttl) * time.Second, Settings: c.settings})
				if honoured := got.TTL == ttl; honoured != (refused == nil) {
					t.Errorf("asked for %d s, granted %d s, but Layout says %v", ttl, got.TTL, refused)
				}
			}
		})
	}
}

func TestAPausedMemberConnectsButDoesNotAnswer(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	n := c.nodes[0]
	if err := n.Process().(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", n.endpoint(), time.Second)
	if err != nil {
		t.Errorf("TCP does not connect: %v", err)
	} else {
		conn.Close()
	}
	if status, err := n.status(t.Context()); err == nil {
		t.Errorf("it answers: %v", status)
	}
	bounded, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := c.Probe(bounded); err != nil {
		t.Errorf("a write past one paused member: %v", err)
	}
	if err := n.Process().(clusters.Pauser).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	clientkit.Eventually(t, "it answers after it was resumed", func() bool {
		_, err := n.status(t.Context())
		return err == nil
	})
}

// The election timeout is a long one: against it, it is little that a busy machine takes to look who leads.
func TestAnotherLeadsWhileTheLeaderIsPaused(t *testing.T) {
	opts := clusters.Options{TTL: 5 * time.Second, Settings: map[string]string{heartbeatInterval: "200", electionTimeout: "3000"}}
	c := run(t, opts)
	deposed, before := leading(t, c)
	old := deposed.Name()
	paused := deposed.Process().(clusters.Pauser)
	if err := paused.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	successor := waitForLeader(t, c, func(leader string) bool { return leader != "" && leader != old })
	t.Logf("%s leads after %v; the layout says %v at most", successor, time.Since(begun), layout(t, opts).Election)
	term := waitForTerm(t, clusters.Named(c.nodes, successor), before+1)
	// Each election is a term. What the layout says is the time of two, because the first may be a split vote; a clock would also count
	// what a busy machine does in it.
	if term > before+2 {
		t.Errorf("%s leads in term %d, and %s did in term %d: want one election, or two", successor, term, old, before)
	}
	if err := paused.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The old one wakes up believing that it leads, until it hears of the higher term.
	waitForTerm(t, deposed, term)
	got := waitForLeader(t, c, func(leader string) bool { return leader != "" })
	if got == old && waitForTerm(t, deposed, term) == term { // in a later one it was elected again
		t.Errorf("%s is said to lead, resumed after %s had taken over", got, successor)
	}
}

// waitForLeader looks until there is a leader that is wanted. A look that none of the members answers says nothing.
func waitForLeader(t *testing.T, c *Cluster, want func(string) bool) (leader string) {
	t.Helper()
	clientkit.Eventually(t, "such a leader", func() bool {
		var err error
		leader, err = c.Leader(t.Context())
		return err == nil && want(leader)
	})
	return leader
}

// leading is a member that says itself that it leads, and the term: no other ever leads in that one.
func leading(t *testing.T, c *Cluster) (leader *node, term uint64) {
	t.Helper()
	clientkit.Eventually(t, "a member that leads", func() bool {
		for _, n := range c.nodes {
			if said, err := n.status(t.Context()); err == nil && said.Leader == said.Header.MemberId && said.RaftTerm > term {
				leader, term = n, said.RaftTerm
			}
		}
		return leader != nil
	})
	return leader, term
}

// waitForTerm is the term of a member once it is at least so high.
func waitForTerm(t *testing.T, n *node, least uint64) (term uint64) {
	t.Helper()
	clientkit.Eventually(t, "such a term", func() bool {
		said, err := n.status(t.Context())
		term = said.GetRaftTerm()
		return err == nil && term >= least
	})
	return term
}

func TestProbeFailsWithoutAQuorum(t *testing.T) {
	c := run(t, clusters.Options{TTL: 2 * time.Second})
	for _, n := range c.nodes[:2] {
		if err := n.Process().(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Probe(bounded); err == nil {
		t.Error("one of three members took a write")
	}
}

func TestAMemberThatCannotStartIsNamed(t *testing.T) {
	site := open(t)
	l := layout(t, clusters.Options{TTL: 2 * time.Second})
	l.Settings["heartbeat-interval"] = "no"
	begun := time.Now()
	_, err := clusters.Start(t.Context(), testBackend{}, site, l, io.Discard)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want that a member ended", err)
	}
	for _, part := range []string{"member n", "exit status 2", "etcd.log ends with", "\"no\" for flag -heartbeat-interval"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	if took := time.Since(begun); took > clientkit.Timeout { // half of what it would be waited for
		t.Errorf("it took %v to notice", took)
	}
}

func TestMembersThatDoNotAgreeAreDescribed(t *testing.T) {
	site := open(t)
	l := layout(t, clusters.Options{TTL: 2 * time.Second})
	starting, started := context.WithTimeout(t.Context(), time.Minute)
	defer started()
	nodes, err := testBackend{}.Launch(starting, site, l)
	if err != nil {
		t.Fatal(err)
	}
	connected, err := testBackend{}.Connect(clusters.Service{Nodes: nodes, Dial: site.Dial, Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	c := connected.(*Cluster)
	defer c.Close()
	if err := c.nodes[1].Process().(clusters.Pauser).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A member that is too busy to answer at once is described like the one that cannot.
	clientkit.Eventually(t, "the one that answers is described", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.settle(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n2 does not answer") {
			t.Fatalf("got %v", err)
		}
		return strings.Contains(err.Error(), "n1: term")
	})
}

func TestAnAttachedServiceGetsReady(t *testing.T) {
	testkit.ReadyAlone(t, testBackend{}, open(t), layout(t, clusters.Options{TTL: 2 * time.Second}))
}

// A leader that lost its office after all had agreed on it answers no request: that is looked at again. An answer that is wrong is not.
func TestWhatNoMemberAnsweredIsLookedAtAgain(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false,
		fmt.Errorf("a write to member n1: %w", rpctypes.ErrGRPCTimeout):                      true,
		fmt.Errorf("a write to member n1: %w", rpctypes.ErrGRPCLeaderChanged):                true,
		fmt.Errorf("a write to member n1: %w", rpctypes.ErrGRPCNoSpace):                      false,
		errors.New("member n1 took the write, but n2 reads another"):                         false,
		errors.New("asked for a lease of 2s, the members granted 5s: they do not honour it"): false,
	} {
		if got := unanswered(err); got != want {
			t.Errorf("%v: looked at again %v, want %v", err, got, want)
		}
	}
}
