//go:build linux

package firewall

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// One namespace has all of 127.0.0.0/8. The rules are those of the host "here":
//
//	here 127.0.0.1 ── out ─►  peer 127.0.0.2
//	               ◄─ in  ──
//	               ◄──────►  other 127.0.0.3, whom no rule names
const (
	hereAddr  = "127.0.0.1"
	peerAddr  = "127.0.0.2"
	otherAddr = "127.0.0.3"
)

// end is a socket that sends and counts datagrams.
type end struct {
	t *testing.T
	*net.UDPConn
}

func listen(t *testing.T, addr string) end {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(addr)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return end{t, conn}
}

// arrive sends so many datagrams and counts those that arrive. Each arrives or is counted by a rule that drops it, however late.
func (from end) arrive(to end, count int) (arrived int) {
	from.t.Helper()
	before, lost := dropped(from.t), 0
	buffer := make([]byte, 64)
	for sent := range count {
		// A packet that a rule of the sender's drops is refused at once.
		if _, err := from.WriteTo([]byte("packet"), to.LocalAddr()); err != nil && !errors.Is(err, unix.EPERM) {
			from.t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); arrived+lost <= sent; {
			_ = to.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, _, err := to.ReadFrom(buffer); err == nil {
				arrived++
				continue
			}
			if lost = dropped(from.t) - before; arrived+lost <= sent && time.Now().After(deadline) {
				from.t.Fatalf("packet %d has neither arrived nor been counted", sent+1)
			}
		}
	}
	return arrived
}

// dropped is what the rules of the namespace have counted, those of others included.
func dropped(t *testing.T) (packets int) {
	t.Helper()
	conn, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	chains, err := conn.ListChains()
	if err != nil {
		t.Fatal(err)
	}
	for _, chain := range chains {
		rules, err := conn.GetRules(chain.Table, chain)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			packets += int(counted(rule))
		}
	}
	return packets
}

func mustDrop(t *testing.T, name string, links ...Link) *Table {
	t.Helper()
	table, err := Block(name, links)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestPacketsAreDroppedInTheWaysThatWereAskedFor(t *testing.T) {
	alone(t, func(t *testing.T) {
		here, peer, other := listen(t, hereAddr), listen(t, peerAddr), listen(t, otherAddr)
		const n = 20
		for _, c := range []struct {
			name     string
			link     Link
			out, in  int // that arrive
			dropping uint64
		}{
			{"both", Link{Peer: peerAddr, In: true, Out: true, Share: 1}, 0, 0, 2 * n},
			{"in", Link{Peer: peerAddr, In: true, Share: 1}, n, 0, n},
			{"out", Link{Peer: peerAddr, Out: true, Share: 1}, 0, n, n},
		} {
			table := mustDrop(t, c.name, c.link)
			if out, in := here.arrive(peer, n), peer.arrive(here, n); out != c.out || in != c.in {
				t.Errorf("%s: %d of %d arrive at the peer, want %d; %d from it, want %d", c.name, out, n, c.out, in, c.in)
			}
			if there, back := here.arrive(other, n), other.arrive(here, n); there != n || back != n {
				t.Errorf("%s: %d and %d of %d arrive between others", c.name, there, back, n)
			}
			if dropped, err := table.Dropped(); err != nil || dropped != c.dropping {
				t.Errorf("%s: the kernel counted %d dropped packets, want %d (%v)", c.name, dropped, c.dropping, err)
			}
			if err := table.Unblock(); err != nil {
				t.Fatal(err)
			}
			if out, in := here.arrive(peer, n), peer.arrive(here, n); out != n || in != n {
				t.Errorf("%s, removed: %d and %d of %d arrive", c.name, out, in, n)
			}
		}
		if left := tables(t); len(left) > 0 {
			t.Errorf("tables are left: %q", left)
		}
	})
}

// Five standard deviations on either side: a correct share fails once in a million runs, one that is wrong by its byte
// order or its modulus always.
func TestAShareOfThePacketsIsDropped(t *testing.T) {
	alone(t, func(t *testing.T) {
		here, peer := listen(t, hereAddr), listen(t, peerAddr)
		const n = 4000
		table := mustDrop(t, "some", Link{Peer: peerAddr, Out: true, Share: 0.3})
		defer table.Unblock() // until then it is used: rules end with the socket, which is closed once nobody can use it
		lost := n - here.arrive(peer, n)
		if lost < n*26/100 || lost > n*34/100 {
			t.Errorf("%d of %d packets were lost, want some 30 %%", lost, n)
		}
		if dropped, err := table.Dropped(); err != nil || dropped != uint64(lost) {
			t.Errorf("the kernel counted %d dropped packets, %d did not arrive (%v)", dropped, lost, err)
		}
		if in := peer.arrive(here, 50); in != 50 {
			t.Errorf("%d of 50 arrive the other way", in)
		}
	})
}

// tables lists the tables of the namespace.
func tables(t *testing.T) (names []string) {
	t.Helper()
	conn, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := conn.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	return names
}

// foreign makes a table that has nothing to do with us, with a rule that drops what comes from the other host.
func foreign(t *testing.T, name string) {
	t.Helper()
	conn, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: name})
	chain := conn.AddChain(&nftables.Chain{
		Name: "in", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter,
	})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: net.ParseIP(otherAddr).To4()},
		&expr.Counter{},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestRulesOfOthersAreUntouched(t *testing.T) {
	alone(t, func(t *testing.T) {
		here, peer, other := listen(t, hereAddr), listen(t, peerAddr), listen(t, otherAddr)
		foreign(t, "theirs")
		both := Link{Peer: peerAddr, In: true, Out: true, Share: 1}
		first, second := mustDrop(t, "first", both), mustDrop(t, "second", Link{Peer: otherAddr, Out: true, Share: 1})
		if got, want := tables(t), []string{"lockcheck-first", "lockcheck-second", "theirs"}; !slices.Equal(got, want) {
			t.Fatalf("the tables are %q, want %q", got, want)
		}
		for _, step := range []struct {
			remove         *Table
			toPeer, toThem int
		}{{first, 5, 0}, {second, 5, 5}} {
			if err := step.remove.Unblock(); err != nil {
				t.Fatal(err)
			}
			if got := here.arrive(peer, 5); got != step.toPeer {
				t.Errorf("%d of 5 arrive at the peer, want %d", got, step.toPeer)
			}
			if got := here.arrive(other, 5); got != step.toThem {
				t.Errorf("%d of 5 arrive at the other, want %d", got, step.toThem)
			}
			if got := other.arrive(here, 5); got != 0 {
				t.Errorf("the foreign rule lets %d of 5 pass", got)
			}
		}
		if got, want := tables(t), []string{"theirs"}; !slices.Equal(got, want) {
			t.Errorf("the tables are %q, want %q", got, want)
		}
	})
}

// The kernel heals the network when the process that made the rules is gone, however it went. No other can take them away.
func TestRulesEndWithTheProcessThatMadeThem(t *testing.T) {
	alone(t, func(t *testing.T) {
		here, peer := listen(t, hereAddr), listen(t, peerAddr)
		for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
			"killed": func(child *exec.Cmd, _ io.Closer) error { return child.Process.Kill() },
			"ended":  func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() },
		} {
			child := exec.Command(os.Args[0], dropCommand, peerAddr)
			child.Stderr = os.Stderr
			stdin, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
				t.Fatalf("the child said %q: %v", line, err)
			}
			if got := here.arrive(peer, 5); got != 0 {
				t.Fatalf("%d of 5 pass the child's rules", got)
			}
			conn, err := nftables.New()
			if err != nil {
				t.Fatal(err)
			}
			conn.DelTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "lockcheck-of-a-child"})
			if err := conn.Flush(); err == nil {
				t.Error("another process could delete the child's table")
			}
			if err := end(child, stdin); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // its sockets are closed before it can be waited for
			for deadline := time.Now().Add(30 * time.Second); len(tables(t)) > 0 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond) // the kernel removes tables a little later than it closes sockets
			}
			if left := tables(t); len(left) > 0 {
				t.Errorf("%s: its tables are still there: %q", name, left)
			}
			if got := here.arrive(peer, 5); got != 5 {
				t.Errorf("%s: %d of 5 packets pass again", name, got)
			}
		}
	})
}

// What is refused leaves nothing behind.
func TestBadCutsAreRefusedByWhatIsWrong(t *testing.T) {
	alone(t, func(t *testing.T) {
		fine := Link{Peer: peerAddr, In: true, Share: 1}
		taken := mustDrop(t, "taken", fine)
		defer taken.Unblock()
		for _, c := range []struct {
			name  string
			links []Link
			says  string
		}{
			{"", []Link{fine}, `cut ""`},
			{"Upper", []Link{fine}, `cut "Upper"`},
			{"with space", []Link{fine}, `cut "with space"`},
			{strings.Repeat("x", 42), []Link{fine}, "up to 41"},
			{"taken", []Link{fine}, "lockcheck-taken"},
			{"a", []Link{fine, {Peer: "n1", In: true, Share: 1}}, `peer "n1" is no IPv4 address`},
			{"a", []Link{{Peer: "::1", In: true, Share: 1}}, `peer "::1" is no IPv4 address`},
			{"a", []Link{{Peer: peerAddr, In: true}}, "share 0"},
			{"a", []Link{{Peer: peerAddr, Out: true, Share: 1.5}}, "share 1.5"},
			{"a", []Link{{Peer: peerAddr, Out: true, Share: -0.1}}, "share -0.1"},
		} {
			table, err := Block(c.name, c.links)
			if err == nil {
				_ = table.Unblock()
				t.Errorf("%q, %v is taken", c.name, c.links)
				continue
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q, %v: the error does not say %q: %v", c.name, c.links, c.says, err)
			}
		}
		for deadline := time.Now().Add(30 * time.Second); len(tables(t)) > 1 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if got, want := tables(t), []string{"lockcheck-taken"}; !slices.Equal(got, want) {
			t.Errorf("the tables are %q, want %q", got, want)
		}
	})
}
