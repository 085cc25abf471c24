package workloads

import (
	"bufio"
	"context"
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
	"lockcheck/clusters/etcd"
	"lockcheck/workloads/client"
)

// serving is the environment variable that turns the test's program into etcd's lock client.
const serving = "LOCKCHECK_TEST_SERVE"

// deaf is a Watch that nobody listens to.
type deaf struct{}

func (deaf) Seen() int64                        { return 0 }
func (deaf) Lease(string, int64, time.Duration) {}
func (deaf) Ended(string, error)                {}
func (deaf) Lost(string, error)                 {}

// BenchmarkAgainstEtcd has five processes take and give back locks of a real etcd, each its own, as fast as they can: in
// a plain loop in each process, and driven and recorded by the harness, operation by operation. It is the same client
// code in the same number of processes. The two take turns, so that whatever else the machine does meets both; the share
// is the median of the turns'. An iteration is one acquire and one release of one process, in each of the two ways.
func BenchmarkAgainstEtcd(b *testing.B) {
	const mostTurns = 40
	endpoint := startEtcd(b)
	var loops []*looper
	for i := range benchClients {
		loops = append(loops, startLooper(b, endpoint, "plain"+strconv.Itoa(i)))
	}
	harness := startHarness(b, serving)
	for _, w := range harness.workers {
		if _, err := w.client.driver.Init(b.Context(), initFor(endpoint)); err != nil {
			b.Fatal(err)
		}
	}
	each := (b.N + benchClients - 1) / benchClients
	turns := min(mostTurns, each)
	plainLoop := func(rounds int) {
		var wait sync.WaitGroup
		for _, l := range loops {
			wait.Go(func() { l.loop(b, rounds) })
		}
		wait.Wait()
	}
	driven := func(rounds int) {
		defer harness.ping(b)()
		harness.each(func(i int, w *worker) { drive(b, w, "driven"+strconv.Itoa(i), rounds) })
	}
	var took [2]time.Duration
	var shares []float64
	for turn := range turns {
		rounds := each*(turn+1)/turns - each*turn/turns
		var these [2]time.Duration
		for way := range these {
			way = (way + turn) % len(these) // each comes first in half of the turns
			began := time.Now()
			[]func(int){plainLoop, driven}[way](rounds)
			these[way] = time.Since(began)
			took[way] += these[way]
		}
		shares = append(shares, 100*float64(these[0])/float64(these[1]))
	}
	slices.Sort(shares)
	operations := float64(2 * each * benchClients)
	b.ReportMetric(operations/took[0].Seconds(), "plain-ops/s")
	b.ReportMetric(operations/took[1].Seconds(), "harness-ops/s")
	b.ReportMetric(shares[len(shares)/2], "%-of-plain")
}

func initFor(endpoint string) client.Init {
	return client.Init{Protocol: client.ProtocolVersion, Name: "c1", Endpoints: []string{endpoint}, TTLMS: 5000, Resource: "http://127.0.0.1:1"}
}

func drive(b *testing.B, w *worker, key string, rounds int) {
	for range rounds {
		hold := "h" + strconv.FormatInt(w.run.ops.Add(1), 10)
		for _, cmd := range []client.CommandName{client.CmdAcquire, client.CmdRelease} {
			if c := w.do(b.Context(), client.Command{Cmd: cmd, Hold: hold, Key: key}); c.Type != history.OK {
				b.Errorf("%s came to %s: %s", cmd, c.Type, c.Report.Error)
				return
			}
		}
	}
}

// looping is the environment variable that turns the test's program into a plain loop over etcd's lock; its value is
// the endpoint and the lock. It is told on its standard input how often, and says when it is done.
const looping = "LOCKCHECK_TEST_LOOP"

type looper struct {
	in  io.Writer
	out *bufio.Reader
}

func startLooper(b *testing.B, endpoint, key string) *looper {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), looping+"="+endpoint+" "+key)
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
	endpoint, key, _ := strings.Cut(value, " ")
	ctx := context.Background()
	lock, _, err := etcd.Concurrency(ctx, initFor(endpoint), deaf{})
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
func pipes(b *testing.B, cmd *exec.Cmd) (io.Writer, io.Reader) {
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

// serverDir is the environment variable that turns the test's program into an etcd with its data in that directory.
const serverDir = "LOCKCHECK_TEST_ETCD"

// startEtcd starts an etcd in a process of its own, where it is in the way of both loops alike.
func startEtcd(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverDir+"="+b.TempDir())
	_, out := pipes(b, cmd)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("etcd did not start: %v", err)
	}
	return strings.TrimSpace(address)
}

// beEtcd serves until its standard input ends.
func beEtcd(dir string) error {
	config := embed.NewConfig()
	config.Dir, config.LogOutputs, config.UnsafeNoFsync = dir, []string{os.DevNull}, true
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
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
