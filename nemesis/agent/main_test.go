//go:build linux

package agent_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	clusterkit "lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/nemesis/agent"
	"lockcheck/nemesis/testkit"
)

// helpers are what the test binary does when it is started as a process of a run.
var helpers = clusterkit.Helpers{
	agent.Command: func([]string) error { return agent.Serve(os.Stdin, os.Stdout) },
	"radio":       radio,
	"clock":       testkit.Clock,
	"burn": func([]string) error {
		for n := 0; n >= 0; n++ {
		}
		return nil
	},
}

func TestMain(m *testing.M) {
	backends.Begin(helpers)
	local.Exit(m.Run())
}

// onHosts runs a test in a process that entered namespaces as the harness does: as this user, and as one without rights.
func onHosts(t *testing.T, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	users := []uint32{clusterkit.Self()}
	if users[0] == 0 {
		users = append(users, clusterkit.Nobody)
	}
	backends.OnHosts(t, users, test)
}

// box is a host with its agent.
type box struct {
	clusters.Host
	*agent.Agent
}

func newBox(t *testing.T, site clusters.Site, name string) box {
	t.Helper()
	host := clusterkit.Host(t, site, name)
	return box{host, startAgent(t, host)}
}

func startAgent(t *testing.T, host clusters.Host) *agent.Agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	a, err := agent.Start(ctx, host)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// do asks the agent for something that has to succeed.
func (b box) do(t *testing.T, what string, args, result any) {
	t.Helper()
	if err := b.Do(t.Context(), what, args, result); err != nil {
		t.Fatal(err)
	}
}

// talker is a helper on a host that is asked and answers in lines.
type talker struct {
	t *testing.T
	clusters.Process
	lines *bufio.Reader
}

func startTalker(t *testing.T, host clusters.Host, cmd clusters.Command) talker {
	t.Helper()
	cmd.Pipes, cmd.Log = true, "talker"
	p, err := host.Start(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	talk := talker{t, p, bufio.NewReader(p.Stdout())}
	if said := talk.read(); said != "ready" {
		t.Fatalf("it said %q", said)
	}
	return talk
}

func (talk talker) read() string {
	talk.t.Helper()
	_ = talk.Stdout().SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := talk.lines.ReadString('\n')
	if err != nil {
		talk.t.Fatalf("read a line: %v (got %q)", err, line)
	}
	return strings.TrimSpace(line)
}

func (talk talker) ask(line string) string {
	talk.t.Helper()
	if _, err := fmt.Fprintln(talk.Stdin(), line); err != nil {
		talk.t.Fatal(err)
	}
	return talk.read()
}

// The radio's port, on every host.
const radioPort = 17000

// radio sends "send ADDR WORD" as a datagram to the radio on another host, and says on "heard WORD" whether one has
// arrived. It knows nothing of agents.
func radio([]string) error {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{Port: radioPort})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var heard []string
	go func() {
		buffer := make([]byte, 64)
		for {
			n, _, err := conn.ReadFromUDP(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				mu.Lock()
				heard = append(heard, string(buffer[:n]))
				mu.Unlock()
			}
		}
	}()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch words := strings.Fields(in.Text()); words[0] {
		case "send":
			addr, err := netip.ParseAddr(words[1])
			if err != nil {
				return err
			}
			_, err = conn.WriteToUDPAddrPort([]byte(words[2]), netip.AddrPortFrom(addr, radioPort))
			if err != nil && !errors.Is(err, unix.EPERM) { // a rule of the sender's own host
				return err
			}
			fmt.Println("sent")
		case "heard":
			mu.Lock()
			fmt.Println(slices.Contains(heard, words[1]))
			mu.Unlock()
		}
	}
	return nil
}
