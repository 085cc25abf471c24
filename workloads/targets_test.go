package workloads

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

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/nemesis/vdso"
)

// redisNode is a redis-server on a socket, as a node of a cluster.
type redisNode struct {
	host            clusters.Host
	program, socket string
	process         clusters.Process
}

func (n *redisNode) Name() string              { return n.host.Name() }
func (n *redisNode) Host() clusters.Host       { return n.host }
func (n *redisNode) Process() clusters.Process { return n.process }

func (n *redisNode) Restart(ctx context.Context, _ bool) (err error) {
	n.process, err = n.host.Start(ctx, clusters.Command{
		Program: n.program, Log: "redis", Args: []string{"--port", "0", "--unixsocket", n.socket, "--dir", filepath.Dir(n.socket), "--save", ""},
	})
	return err
}

// ahead is by how much the server's clock is ahead, by TIME. Half of the time that asking takes is unknown, so it asks
// again until that is little.
func (n *redisNode) ahead(t *testing.T) time.Duration {
	t.Helper()
	var conn net.Conn
	var err error
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if conn, err = net.Dial("unix", n.socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	for in := bufio.NewReader(conn); ; {
		before := trueTime()
		if _, err := fmt.Fprint(conn, "TIME\r\n"); err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		for range 5 { // *2, $10, seconds, $6, microseconds
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if number, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
				numbers = append(numbers, number)
			}
		}
		after := trueTime()
		if len(numbers) != 2 {
			t.Fatalf("TIME answered %v", numbers)
		}
		if after-before < int64(2*time.Millisecond) {
			return time.Duration(numbers[0]*1e9 + numbers[1]*1e3 - (before+after)/2)
		}
	}
}

// trueTime asks the kernel itself.
func trueTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// A server that is killed under another clock comes back under it, and loses it when that is taken back.
func TestARestartedServerIsSkewedAgain(t *testing.T) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	onHosts(t, func(t *testing.T, site clusters.Site) {
		on := newLink(t, newAgents(), site, "n1")
		node := &redisNode{host: on.host, program: program, socket: filepath.Join(t.TempDir(), "socket")}
		if err := node.Restart(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		s := server{named("n1"), on, node, newWounds()}
		want := func(when string, ahead time.Duration) {
			t.Helper()
			if got := node.ahead(t); (got - ahead).Abs() > 10*time.Millisecond {
				t.Errorf("%s: TIME is ahead by %v, want %v", when, got, ahead)
			}
		}
		again := func() {
			t.Helper()
			if err := s.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}
		want("at first", 0)
		seen, err := s.SetClock(t.Context(), nemesis.Skew{Wall: vdso.Shift{Offset: 5 * time.Second}, Expiry: time.Minute})
		if err != nil || (seen-5*time.Second).Abs() > 10*time.Millisecond {
			t.Fatalf("seen to be ahead by %v: %v", seen, err)
		}
		want("set", 5*time.Second)
		again()
		want("started again", 5*time.Second)
		if err := s.ResetClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("taken back", 0)
		again()
		want("started again, with nothing to be done", 0)
	})
}
