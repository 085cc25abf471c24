package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/needs"
)

// serving is the environment variable that turns the test's program into etcd's lock client.
const serving = "LOCKCHECK_TEST_SERVE"

// deaf is a Watch without a listener.
type deaf struct{}

func (deaf) Seen() int64                        { return 0 }
func (deaf) Lease(string, int64, time.Duration) {}
func (deaf) Ended(string, error)                {}
func (deaf) Lost(string, error)                 {}

// BenchmarkAgainstEtcd has processes take and give back locks of a real etcd as fast as they can: in a plain loop in each
// process, and driven and recorded by the harness, operation by operation. It is the same client code in the same number of
// processes. The two take turns, so that other load of the machine meets both; the share is the median of the turns'.
// An iteration is one acquire and one release of one process, in each of the two ways.
func BenchmarkAgainstEtcd(b *testing.B) {
	three := startEtcd(b, 3, true)
	for _, c := range []contest{
		{"3 members, 1 client", three, 1, false},
		{"3 members, 5 clients share a lock", three, benchClients, true},
		// Clients that never wait for each other keep every processor busy: what the harness needs, etcd does not get.
		{"3 members, 5 clients with locks of their own", three, benchClients, false},
		// With a service that does next to nothing besides, what the harness does is the largest part that it can be.
		{"1 member that syncs nothing, 5 clients with locks of their own", startEtcd(b, 1, false), benchClients, false},
	} {
		b.Run(c.name, c.run)
	}
}

// contest is a plain loop against the harness.
type contest struct {
	name      string
	endpoints string
	clients   int
	shared    bool // they all want one lock
}

// key is the lock that a client of one way wants.
func (c contest) key(way string, client int) string {
	if c.shared {
		return way
	}
	return way + strconv.Itoa(client)
}

func (c contest) run(b *testing.B) {
	var loops []*looper
	for i := range c.clients {
		loops = append(loops, startLooper(b, looping, c.endpoints+" "+c.key("plain", i)))
	}
	harness := startHarness(b, c.clients, serving)
	for _, w := range harness.workers {
		if _, err := w.client.driver.Init(b.Context(), initFor(c.endpoints)); err != nil {
			b.Fatal(err)
		}
	}
	c.turns(b, plainly(b, "plain", loops), way{"harness", func(rounds int) {
		defer harness.ping(b)()
		harness.each(func(i int, w *worker) { drive(b, w, c.key("driven", i), rounds) })
	}})
}

// way is one of those that take turns, and what goes so many rounds with each client.
type way struct {
	name string
	run  func(rounds int)
}

// plainly is the way of plain loops.
func plainly(b *testing.B, name string, loops []*looper) way {
	return way{name, func(rounds int) {
		var wait sync.WaitGroup
		for _, l := range loops {
			wait.Go(func() { l.loop(b, rounds) })
		}
		wait.Wait()
	}}
}

// turns has ways take turns, all of two operations a round and client, and reports the share of the last in each of the others: the median
// of the turns'.
func (c contest) turns(b *testing.B, ways ...way) {
	// Enough turns for a median, each long enough for its beginning and its end not to matter.
	const maxTurns, minTurn = 40, 50
	each := (b.N + c.clients - 1) / c.clients
	turns := min(maxTurns, max(1, each/minTurn))
	last := len(ways) - 1
	took, shares := make([]time.Duration, len(ways)), make([][]float64, last)
	for turn := range turns {
		rounds := each*(turn+1)/turns - each*turn/turns
		these := make([]time.Duration, len(ways))
		for i := range ways {
			i = (i + turn) % len(ways) // each comes first equally often
			began := time.Now()
			ways[i].run(rounds)
			these[i] = time.Since(began)
			took[i] += these[i]
		}
		for i := range shares {
			shares[i] = append(shares[i], 100*float64(these[i])/float64(these[last]))
		}
	}
	operations := float64(2 * each * c.clients)
	for i, way := range ways {
		b.ReportMetric(operations/took[i].Seconds(), way.name+"-ops/s")
	}
	for i, all := range shares {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], "%-of-"+ways[i].name)
	}
}

func initFor(endpoints string) client.Init {
	return client.Init{Protocol: client.ProtocolVersion, Name: "c1", Endpoints: strings.Split(endpoints, ","), TTLMS: 5000, Resource: "http://127.0.0.1:1"}
}

func drive(b *testing.B, w *worker, key string, rounds int) {
	for range rounds {
		hold := "h" + strconv.FormatInt(w.run.ops.Add(1), 10)
		for _, cmd := range []client.CommandName{client.CmdAcquire, client.CmdRelease} {
			if c := w.Do(b.Context(), client.Command{Cmd: cmd, Hold: hold, Key: key}); c.Type != history.OK {
				b.Errorf("%s came to %s: %s", cmd, c.Type, c.Report.Error)
				return
			}
		}
	}
}

// looping is the environment variable that turns the test's program into a plain loop over etcd's lock; its value is
// the endpoints and the lock. It is told on its standard input how often, and says when it is done.
const looping = "LOCKCHECK_TEST_LOOP"

type looper struct {
	in  io.Writer
	out *bufio.Reader
}

func startLooper(b testing.TB, role, value string) *looper {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+value)
	in, out := pipes(b, cmd)
	return &looper{in, bufio.NewReader(out)}
}

func (l *looper) loop(b *testing.B, rounds int) {
	fmt.Fprintln(l.in, rounds)
	if said, err := l.out.ReadString('\n'); err != nil || said != "done\n" {
		b.Errorf("the plain loop said %q: %v", said, err)
	}
}

func beLooper(value string) error {
	endpoints, key, _ := strings.Cut(value, " ")
	ctx := context.Background()
	lock, _, err := etcd.Concurrency(ctx, initFor(endpoints), deaf{})
	if err != nil {
		return err
	}
	defer lock.Close(ctx)
	for {
		var rounds int
		if _, err := fmt.Scanln(&rounds); err != nil {
			return nil // the benchmark is done
		}
		for range rounds {
			grant, err := lock.Acquire(ctx, key, false)
			if err != nil {
				return err
			}
			if _, err := grant.Release(ctx); err != nil {
				return err
			}
		}
		fmt.Println("done")
	}
}

// pipes starts a process that ends when its standard input does, which is when the benchmark ends.
func pipes(b testing.TB, cmd *exec.Cmd) (io.Writer, io.Reader) {
	b.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return in, out
}

// serverOf is the environment variable that turns the test's program into a member of an etcd; its value is an etcdMember.
const serverOf = "LOCKCHECK_TEST_ETCD"

type etcdMember struct {
	Name, Dir, Peers string // Peers as in etcd's initial-cluster
	Peer             url.URL
	Sync             bool
}

// startEtcd starts an etcd, each member in a process of its own, where it is in the way of both loops alike, with the
// settings that a run's have. It returns the endpoints, with commas between them.
func startEtcd(b *testing.B, members int, sync bool) string {
	b.Helper()
	var all []etcdMember
	var peers []string
	for i := range members {
		m := etcdMember{Name: "n" + strconv.Itoa(i+1), Dir: b.TempDir(), Sync: sync, Peer: url.URL{Scheme: "http", Host: needs.Address(b)}}
		all, peers = append(all, m), append(peers, m.Name+"="+m.Peer.String())
	}
	var said []*bufio.Reader
	for _, m := range all {
		m.Peers = strings.Join(peers, ",")
		value, err := json.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), serverOf+"="+string(value))
		_, out := pipes(b, cmd)
		said = append(said, bufio.NewReader(out))
	}
	var endpoints []string
	for i, out := range said {
		address, err := out.ReadString('\n')
		if err != nil {
			b.Fatalf("member %d of etcd did not start: %v", i+1, err)
		}
		endpoints = append(endpoints, strings.TrimSpace(address))
	}
	return strings.Join(endpoints, ",")
}

// beEtcd serves until its standard input ends.
func beEtcd(value string) error {
	var m etcdMember
	if err := json.Unmarshal([]byte(value), &m); err != nil {
		return err
	}
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Name, config.Dir, config.LogOutputs, config.UnsafeNoFsync = m.Name, m.Dir, []string{os.DevNull}, !m.Sync
	config.TickMs, config.ElectionMs = 50, 600
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{m.Peer}, []url.URL{m.Peer}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.InitialCluster = m.Peers
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	<-server.Server.ReadyNotify()
	fmt.Println(server.Clients[0].Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
