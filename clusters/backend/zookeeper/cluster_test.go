//go:build e2e

package zookeeper

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/clientkit"
)

func TestThreeServersGetReady(t *testing.T) {
	c := ensemble(t)
	t.Log(shared.progress.String())
	if text := shared.progress.String(); !strings.Contains(text, "zookeeper: started n1 on ") || !strings.Contains(text, " leads") {
		t.Errorf("progress: %q", text)
	}
	if len(c.Nodes()) != 3 || len(c.Endpoints()) != 3 {
		t.Errorf("%d nodes, endpoints %v", len(c.Nodes()), c.Endpoints())
	}
	versions, err := c.Versions(t.Context())
	if err != nil || !strings.HasPrefix(versions[Name], "3.") || strings.Contains(versions[Name], "-") {
		t.Errorf("versions %v, %v", versions, err)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	leaderOf(t, c)
}

// What Layout computes is what real servers grant, also where it refuses.
func TestNegotiatedTimeout(t *testing.T) {
	c := ensemble(t)
	for _, ttl := range []time.Duration{300 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second, time.Minute, 90 * time.Second} {
		got, err := c.nodes[0].negotiate(t.Context(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		_, refused := Backend{}.Layout(clusters.Options{TTL: ttl})
		if (got == ttl) != (refused == nil) {
			t.Errorf("asked for %v, granted %v, but Layout says %v", ttl, got, refused)
		}
		if refused != nil && !strings.Contains(refused.Error(), "the nearest it can is "+got.String()) {
			t.Errorf("asked for %v, granted %v, but Layout says %v", ttl, got, refused)
		}
	}
}

func TestAPausedServerConnectsButDoesNotAnswer(t *testing.T) {
	c := ensemble(t)
	n := followerOf(t, c)
	resume := pauseFor(t, n)
	conn, err := net.DialTimeout("tcp", n.endpoint(), time.Second)
	if err != nil {
		t.Errorf("TCP does not connect: %v", err)
	} else {
		conn.Close()
	}
	if s, err := n.status(t.Context()); err == nil {
		t.Errorf("it answers: %v", s)
	}
	if err := c.Probe(t.Context()); err != nil {
		t.Errorf("a write past one paused server: %v", err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := c.Ready(bounded); err == nil || !strings.Contains(err.Error(), n.Name()) {
		t.Errorf("with a paused server the ensemble is ready: %v", err)
	}
	resume()
	restore(t, c)
}

// The ensemble is this test's own, which gives up a silent leader as soon as one in a run does.
func TestAnotherLeadsWhileTheLeaderIsPaused(t *testing.T) {
	c, err := own(t, 0, unchanged)
	if err != nil {
		t.Fatal(err)
	}
	old := leaderOf(t, c)
	before := waitForStatus(t, old, func(status) bool { return true })
	if err := pauser(t, old).Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	successor, err := clusters.AwaitOtherLeader(t.Context(), c, old.Name())
	t.Logf("%s leads %v after %s was paused", successor, time.Since(begun), old.Name())
	if err != nil || successor == old.Name() {
		t.Fatalf("leader %q, %v", successor, err)
	}
	after := waitForStatus(t, clusters.Named(c.nodes, successor), func(status) bool { return true })
	if after.epoch() <= before.epoch() {
		t.Errorf("epoch %d after %d", after.epoch(), before.epoch())
	}
	if err := pauser(t, old).Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The old one wakes up believing that it leads, until it hears of the higher epoch.
	deposed := func(s status) bool { return s.mode == following || s.epoch() > after.epoch() }
	waitForStatus(t, old, deposed)
	leader := ""
	clientkit.Eventually(t, "one leads", func() bool {
		leader, err = c.Leader(t.Context())
		return err == nil && leader != ""
	})
	if leader == old.Name() && waitForStatus(t, old, deposed).epoch() <= after.epoch() { // in a later one it was elected again
		t.Errorf("%q is said to lead after %s had taken over", leader, successor)
	}
}

// waitForStatus is what a server says of itself once that is as wanted.
func waitForStatus(t *testing.T, n *node, want func(status) bool) (said status) {
	t.Helper()
	clientkit.Eventually(t, "such a status", func() bool {
		var err error
		said, err = n.status(t.Context())
		return err == nil && want(said)
	})
	return said
}

// The ensemble is this test's own: after such pauses one server of a busy ensemble was seen to follow, in sync, and to take no
// write for more than a minute, until it was started again. No other test is to wait for that.
func TestProbeFailsWithoutAQuorum(t *testing.T) {
	c, err := own(t, 0, unchanged)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes[:2] {
		if err := pauser(t, n).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bounded, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := c.Probe(bounded); err == nil {
		t.Error("one of three servers took a write")
	}
}

// A server may take a connection and never answer its first request, if it lost its leader just then. The library waits for
// most of seven TTLs before it tries again, which is longer than any caller waits here.
func TestASilentConnectionDoesNotDelayReadiness(t *testing.T) {
	shared := ensemble(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections are made, and not accepted
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var dials atomic.Int64
	first := *shared.nodes[0]
	first.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if n := dials.Add(1); n == 1 || n == 3 || n == 5 { // one each for a write, a read, and a session, in whichever order
			addr = silent.Addr().String()
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		return shared.nodes[0].dial(ctx, network, addr)
	}
	c := &cluster{nodes: []*node{&first, shared.nodes[1], shared.nodes[2]}, ttl: time.Minute}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.verify(ctx); err != nil {
		t.Error(err)
	}
	if n := dials.Load(); n < 6 {
		t.Errorf("%d connections", n)
	}
}

// slow is a connection to a server that takes its time.
type slow struct{ net.Conn }

func (s slow) Read(into []byte) (int, error) {
	time.Sleep(probeTry * 3 / 10)
	return s.Conn.Read(into)
}

// On a machine that is busy enough no write is done by the time that the next is tried.
func TestAServerThatIsOnlySlowGetsReady(t *testing.T) {
	shared := ensemble(t)
	first := *shared.nodes[0]
	first.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := shared.nodes[0].dial(ctx, network, addr)
		return slow{conn}, err // an answer is read in two parts, and a write needs two answers
	}
	c := &cluster{nodes: []*node{&first, shared.nodes[1], shared.nodes[2]}, ttl: testTTL}
	if err := c.verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFailoverAndRestarts(t *testing.T) {
	c := ensemble(t)
	old := leaderOf(t, c)
	pid := old.Process().PID()
	if err := c.Failover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := leaderOf(t, c); got == old {
		t.Errorf("%s leads after as before", got.Name())
	}
	if now := old.Process().PID(); now == pid {
		t.Errorf("the old leader's process is %d still", now)
	}
	conn := admin(t, c)
	kept, err := conn.Create("/kept-", []byte("x"), zk.FlagSequence, anyone) // a name of its own: with -count the ensemble still has the node of the round before
	if err != nil {
		t.Fatal(err)
	}
	n := followerOf(t, c)
	if err := n.Restart(t.Context(), false); err == nil {
		t.Error("a running server was restarted")
	}
	for _, empty := range []bool{false, true} {
		if err := n.Process().Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.Restart(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		restore(t, c)
		var got []byte
		err := n.with(t.Context(), testTTL, func(conn *zk.Conn) (err error) {
			got, _, err = conn.Get(kept)
			return err
		})
		if err != nil || string(got) != "x" {
			t.Errorf("empty %v: it reads %q, %v", empty, got, err)
		}
	}
}

// A server by itself loses everything with its data, and nothing without.
func TestStandaloneServer(t *testing.T) {
	c, err := own(t, 1, unchanged)
	if err != nil {
		t.Fatal(err)
	}
	if leader, err := c.Leader(t.Context()); err != nil || leader != "n1" {
		t.Errorf("leader %q, %v", leader, err)
	}
	if err := c.Failover(t.Context()); err == nil {
		t.Error("it failed over to no server")
	}
	n := c.nodes[0]
	for _, empty := range []bool{false, true} {
		if err := n.Process().Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.Restart(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		if _, err := c.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := n.with(t.Context(), testTTL, func(conn *zk.Conn) error {
			_, _, err := conn.Get(n.ownProbe())
			return err
		})
		if gone := err == zk.ErrNoNode; gone != empty || (err != nil && !gone) {
			t.Errorf("restarted, empty %v: %v", empty, err)
		}
	}
}

func TestAServerThatCannotStartIsNamed(t *testing.T) {
	_, err := own(t, 1, func(l *clusters.Layout) { l.Settings[maxSession] = "1" })
	if err == nil {
		t.Fatal("it started")
	}
	for _, part := range []string{"server n1 ended", "zookeeper.log ends with"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
}

func TestAnAttachedServiceGetsReady(t *testing.T) {
	needServers(t)
	l, err := Backend{}.Layout(clusters.Options{TTL: testTTL})
	if err != nil {
		t.Fatal(err)
	}
	testkit.ReadyAlone(t, Backend{}, testkit.Open(t, provider, Backend{}.Software()), l)
}
