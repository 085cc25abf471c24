//go:build e2e

package run

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/backend/postgres"
	"lockcheck/clusters/client"
	"lockcheck/clusters/resource"
	"lockcheck/clusters/testkit/needs"
)

// The roles of the test's program in this benchmark, by their environment variables.
const (
	keeping = "LOCKCHECK_TEST_KEEP"  // the resource before a PostgreSQL server; its value is that server's address
	granted = "LOCKCHECK_TEST_GRANT" // a client whose lock is granted at once
	holding = "LOCKCHECK_TEST_HOLD"  // a plain loop of holds; its value are the resource's URL or the server's address, the lock service's and the key
)

func init() {
	roles[keeping], roles[holding] = beKeeper, beHolder
	roles[granted] = func(string) error {
		return client.Serve(context.Background(), os.Stdin, os.Stdout, beGranted)
	}
}

// BenchmarkAgainstPostgres has processes take a lock, read and write a register of a real PostgreSQL, and give the lock back, as fast as they
// can: as a run does with --resource=postgres, where the harness drives and records clients, which send their requests to the process before
// the server; in a plain loop in each process, of the same requests to the same process; and in one that needs no such process, with the
// statements sent to the server itself. It is the same lock, and the same statements, in the same number of processes. The three take turns, so
// that other load of the machine meets all; a share is the median of the turns'. An iteration is one hold of one process, in each of the ways.
func BenchmarkAgainstPostgres(b *testing.B) {
	server, three := startPostgres(b), startEtcd(b, 3, true)
	for _, c := range []struct {
		contest
		role string // of the clients
	}{
		{contest{"etcd's lock, 1 client", three, 1, false}, serving},
		{contest{"etcd's lock, 5 clients share it", three, benchClients, true}, serving},
		{contest{"etcd's locks, 5 clients with locks of their own", three, benchClients, false}, serving},
		// Without a lock and on a disk that syncs in no time, what is on the way of a request is the largest part that it can be.
		{contest{"no lock, 1 client", noLock, 1, false}, granted},
		{contest{"no lock, 5 clients", noLock, benchClients, false}, granted},
	} {
		b.Run(c.name, func(b *testing.B) {
			at := "http://" + startKeeper(b, server)
			loops := func(storage, way string) (all []*looper) {
				for i := range c.clients {
					all = append(all, startLooper(b, holding, storage+" "+c.endpoints+" "+c.key(way, i)))
				}
				return all
			}
			harness := startHarness(b, c.clients, c.role)
			for _, w := range harness.workers {
				init := initFor(c.endpoints)
				init.Resource = at
				if _, err := w.client.driver.Init(b.Context(), init); err != nil {
					b.Fatal(err)
				}
			}
			// A number names one request on a key for ever: the server would answer a second from its log.
			harness.run.ops.Store(time.Now().UnixNano())
			c.turns(b, plainly(b, "requests", loops(at, "asked")), plainly(b, "statements", loops(server, "plain")), way{"harness", func(rounds int) {
				defer harness.ping(b)()
				harness.each(func(i int, w *worker) { holdInTurn(b, w, c.key("driven", i), rounds) })
			}})
		})
	}
}

// holdInTurn is as many holds, each with its two requests.
func holdInTurn(b *testing.B, w *worker, key string, rounds int) {
	for range rounds {
		hold := "h" + strconv.FormatInt(w.run.ops.Add(1), 10)
		for _, cmd := range []client.Command{
			{Cmd: client.CmdAcquire}, {Cmd: client.CmdRead}, {Cmd: client.CmdWrite, Value: hold, Base: "h1", Guard: history.GuardNone}, {Cmd: client.CmdRelease},
		} {
			cmd.Hold, cmd.Key = hold, key
			if c := w.Do(b.Context(), cmd); c.Type != history.OK {
				b.Errorf("%s came to %s: %s", cmd.Cmd, c.Type, c.Report.Error)
				return
			}
		}
	}
}

// handler is where a plain loop has its requests handled.
type handler func(context.Context, history.Kind, resource.Ask) (history.Outcome, error)

// handledAt is the resource of a URL, or the server at an address.
func handledAt(ctx context.Context, at string) (handle handler, done func(), err error) {
	if strings.HasPrefix(at, "http://") {
		asked := resource.NewClient(at)
		return func(ctx context.Context, kind history.Kind, ask resource.Ask) (history.Outcome, error) {
			send := map[history.Kind]func(context.Context, resource.Ask) (resource.Answer, error){history.KindRead: asked.Read, history.KindWrite: asked.Write}[kind]
			answer, err := send(ctx, ask)
			return answer.Outcome, err
		}, asked.Close, nil
	}
	keeper, err := postgres.Backend{}.OpenResource(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, kind history.Kind, ask resource.Ask) (history.Outcome, error) {
		line, err := keeper.Handle(ctx, kind, ask)
		return line.Outcome, err
	}, keeper.Close, nil
}

// beHolder is a plain loop.
func beHolder(value string) error {
	words, ctx := strings.SplitN(value, " ", 3), context.Background()
	at, endpoints, key := words[0], words[1], words[2]
	handle, done, err := handledAt(ctx, at)
	if err != nil {
		return err
	}
	defer done()
	var lock client.Lock = unguarded{}
	if endpoints != noLock {
		if lock, _, err = etcd.Concurrency(ctx, initFor(endpoints), deaf{}); err != nil {
			return err
		}
		defer lock.Close(ctx)
	}
	number := time.Now().UnixNano()
	hold := func() error {
		grant, err := lock.Acquire(ctx, key, false)
		if err != nil {
			return err
		}
		ask := resource.Ask{Hold: "h" + strconv.FormatInt(number, 10), Key: key, Token: grant.Token()}
		for _, kind := range []history.Kind{history.KindRead, history.KindWrite} {
			number++
			ask.Request = fmt.Sprintf("%d%d", number, os.Getpid())
			if kind == history.KindWrite {
				ask.Value, ask.Base = ask.Hold, "h1"
			}
			if outcome, err := handle(ctx, kind, ask); err != nil || outcome != history.Applied {
				return fmt.Errorf("%s %s: %q, %w", kind, ask.Request, outcome, err)
			}
		}
		_, err = grant.Release(ctx)
		return err
	}
	for {
		var rounds int
		if _, err := fmt.Scanln(&rounds); err != nil {
			return nil // the benchmark is done
		}
		for range rounds {
			if err := hold(); err != nil {
				return err
			}
		}
		fmt.Println("done")
	}
}

// beKeeper is the resource before the server, as a run starts it.
func beKeeper(addr string) error {
	keeper, err := postgres.Backend{}.OpenResource(context.Background(), addr)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		stop()
	}()
	return resource.ServeKeeper(ctx, l, keeper, resource.KeeperMode{Name: postgres.Name})
}

// startKeeper returns where it listens.
func startKeeper(b testing.TB, addr string) string {
	b.Helper()
	said, err := startLooper(b, keeping, addr).out.ReadString('\n')
	if err != nil {
		b.Fatalf("the resource before PostgreSQL did not start: %v", err)
	}
	return strings.TrimSpace(said)
}

// noLock stands for the address of no lock service.
const noLock = "-"

// unguarded is a lock that protects nothing and takes no time.
type unguarded struct{}

func beGranted(context.Context, client.Init, client.Watch) (client.Lock, client.Ready, error) {
	return unguarded{}, client.Ready{Client: "granted at once", Tokens: client.TokensNone, TokensReason: "it is no lock", Release: client.ReleaseChecked}, nil
}

func (unguarded) Acquire(context.Context, string, bool) (client.Grant, error) { return atOnce{}, nil }
func (unguarded) Close(context.Context) error                                 { return nil }

type atOnce struct{}

func (atOnce) Session() string  { return "s1" }
func (atOnce) Token() string    { return "" }
func (atOnce) Seen() int64      { return 0 }
func (atOnce) Valid() time.Time { return time.Time{} }
func (atOnce) Release(context.Context) (*bool, error) {
	owned := true
	return &owned, nil
}

// startPostgres starts a server with the settings that a resource of a run has, all of them its own, and returns its address.
func startPostgres(b testing.TB) string {
	b.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		if os.Getenv("CI") == "true" {
			b.Fatal("PostgreSQL is not there; install postgresql-15")
		}
		b.Skip("PostgreSQL is not there: install postgresql-15")
	}
	bin, addr := filepath.Dir(found[len(found)-1]), needs.Address(b)
	data, err := os.MkdirTemp("", "lockcheck-bench-") // b.TempDir's own directory lets no other user in
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(data) })
	host, port, _ := net.SplitHostPort(addr)
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = "/"
		asNobody(cmd) // it refuses to run as root
		return cmd
	}
	forNobody(b, data)
	if said, err := command("initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D", data).CombinedOutput(); err != nil {
		b.Fatalf("initdb: %v\n%s", err, said)
	}
	server := command("postgres", "-D", data, "-c", "listen_addresses="+host, "-c", "port="+port, "-c", "unix_socket_directories=")
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt) // fast shutdown: its processes end with it
		_ = server.Wait()
	})
	var last error
	for range 600 {
		keeper, err := postgres.Backend{}.OpenResource(b.Context(), addr)
		if last = err; err == nil {
			keeper.Close()
			return addr
		}
		time.Sleep(100 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	b.Fatalf("PostgreSQL did not start: %v\n%s", last, said)
	return ""
}
