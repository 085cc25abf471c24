package agent_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/clusters/local"
	"lockcheck/nemesis/agent"
)

// envEnter makes the test binary enter namespaces before it does anything, as lockcheck run does.
const envEnter = "LOCKCHECK_TEST_ENTER"

// entered is the provider of a test binary that was asked to enter.
var entered *local.Provider

// helpers are what the test binary does when it is started as a process of a run.
var helpers = map[string]func(args []string) error{
	agent.Command:        func([]string) error { return agent.Serve(os.Stdin, os.Stdout) },
	local.JanitorCommand: local.Janitor,
	"radio":              radio,
	"clock":              clock,
}

func TestMain(m *testing.M) {
	if os.Getenv(envEnter) != "" {
		provider, code, err := local.Enter()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(64)
		}
		if provider == nil {
			os.Exit(code)
		}
		os.Unsetenv(envEnter)
		entered = provider
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		help, ok := helpers[os.Args[1]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such helper:", os.Args[1])
			os.Exit(64)
		}
		if err := help(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			local.Exit(1)
		}
		local.Exit(0)
	}
	local.Exit(m.Run())
}

// onHosts runs a test in a process that entered namespaces as the harness does: as this user, and as one without rights.
func onHosts(t *testing.T, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	if entered != nil {
		site, err := entered.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := site.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		if isolated, why := site.Isolated(); !isolated {
			t.Fatalf("hosts have no networks of their own: %s", why)
		}
		test(t, site)
		return
	}
	users := []uint32{uint32(os.Geteuid())}
	if users[0] == 0 {
		users = append(users, 65534)
	}
	for _, uid := range users {
		t.Run(fmt.Sprintf("user %d", uid), func(t *testing.T) {
			top, _, _ := strings.Cut(t.Name(), "/")
			// Not by its path, which the other user may not be let through.
			cmd := exec.Command("/proc/self/exe", "-test.run=^"+top+"$", "-test.v", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), envEnter+"=1")
			cmd.Dir = "/"
			if uid != uint32(os.Geteuid()) {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
			}
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), "--- PASS: "+top) {
				t.Fatal("the test did not run inside")
			}
		})
	}
}

// box is a host with its agent.
type box struct {
	clusters.Host
	*agent.Agent
}

func newBox(t *testing.T, site clusters.Site, name string) box {
	t.Helper()
	host, err := site.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
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

// clock says, for each line it reads, how far its wall clock and its monotonic clock are from the kernel's, in
// nanoseconds: by the reading that took the least time of several.
func clock([]string) error {
	start, trueStart := time.Now(), kernel(unix.CLOCK_MONOTONIC)
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		wall := beyond(unix.CLOCK_REALTIME, func() int64 { return time.Now().UnixNano() })
		mono := beyond(unix.CLOCK_MONOTONIC, func() int64 { return trueStart + int64(time.Since(start)) })
		fmt.Println(wall, mono)
	}
	return nil
}

// kernel asks the kernel itself for a time, past the vDSO.
func kernel(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

func beyond(id int32, seen func() int64) (offset int64) {
	best := int64(1 << 62)
	for range 10 {
		before := kernel(id)
		now := seen()
		if after := kernel(id); after-before < best {
			best, offset = after-before, now-(before+after)/2
		}
	}
	return offset
}
