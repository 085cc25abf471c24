package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/clusters"
)

// envEnter makes the test binary enter namespaces before it does anything, as lockcheck run does.
const envEnter = "LOCKCHECK_TEST_ENTER"

// entered is the provider of a test binary that was asked to enter.
var entered *Provider

// helpers are what the test binary does when it is started as a process of a run, or as a harness of its own.
var helpers = map[string]func(args []string) error{
	JanitorCommand: Janitor,
	"sleep":        func([]string) error { select {} },
	"echo":         echo,
	"talk":         func([]string) error { _, err := io.Copy(os.Stdout, os.Stdin); return err },
	"print-env":    func([]string) error { fmt.Println(strings.Join(os.Environ(), "\n")); return nil },
	"net-ns":       func([]string) error { ns, err := os.Readlink("/proc/self/ns/net"); fmt.Println(ns); return err },
	"fork":         fork,
	"abandon":      abandon,
	"exit-code":    func([]string) error { Exit(3); return nil },
	"panic":        func([]string) error { panic("a bug") },
	"harness":      harness,
	"interrupts":   interrupts,
}

func TestMain(m *testing.M) {
	if os.Getenv(envEnter) != "" {
		provider, code, err := Enter()
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
			Exit(1)
		}
		Exit(0)
	}
	Exit(m.Run())
}

// mode is one of the situations that a harness can find itself in.
type mode struct {
	name     string
	uid      uint32
	env      []string
	isolated bool
}

func modes() []mode {
	self := uint32(os.Geteuid())
	all := []mode{
		{"namespaces", self, nil, true},
		{"loopback", self, []string{EnvNamespaces + "=off"}, false},
	}
	if self == 0 {
		all = append(all, mode{"unprivileged", 65534, nil, true}, mode{"unprivileged loopback", 65534, []string{EnvNamespaces + "=off"}, false})
	}
	return all
}

// command is the test binary again, in this mode.
func (m mode) command(args ...string) *exec.Cmd {
	cmd := exec.Command(selfPath, args...)
	cmd.Env = append(append(os.Environ(), envEnter+"=1"), m.env...)
	cmd.Dir = "/"
	if m.uid != uint32(os.Geteuid()) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: m.uid, Gid: m.uid}}
	}
	return cmd
}

// everywhere runs a test once in each mode, each time in a process of its own that entered as the harness does.
func everywhere(t *testing.T, test func(t *testing.T, s clusters.Site)) {
	t.Helper()
	if entered != nil {
		if want := os.Getenv("LOCKCHECK_TEST_ISOLATED") == "true"; entered.inside != want {
			t.Fatalf("isolated is %v (%s), want %v", entered.inside, entered.reason, want)
		}
		s, err := entered.Open(t.Context(), clusters.SiteSpec{Run: t.Name(), LogDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		test(t, s)
		return
	}
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			top, _, _ := strings.Cut(t.Name(), "/")
			cmd := m.command("-test.run=^"+top+"$", "-test.v", "-test.timeout=60s")
			cmd.Env = append(cmd.Env, fmt.Sprintf("LOCKCHECK_TEST_ISOLATED=%v", m.isolated))
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

func newHost(t *testing.T, s clusters.Site, name string) clusters.Host {
	t.Helper()
	h, err := s.Host(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// start starts a helper with pipes.
func start(t *testing.T, h clusters.Host, args ...string) clusters.Process {
	t.Helper()
	p, err := h.Start(t.Context(), clusters.Command{Args: args, Log: args[0], Pipes: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readLine(t *testing.T, from *os.File) string {
	t.Helper()
	_ = from.SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v (got %q)", err, line)
	}
	return strings.TrimSpace(line)
}

// echo answers TCP on an address, line by line.
func echo(args []string) error {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(c, c) }()
	}
}

// fork starts a process that outlives it, unless somebody sees to it, and names it.
func fork([]string) error {
	cmd := exec.Command(selfPath, "sleep")
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	select {}
}

// abandon leaves a process in a session of its own behind, and names it.
func abandon([]string) error {
	cmd := exec.Command(selfPath, "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return nil
}

// harness is a run with all kinds of processes, to be killed.
func harness([]string) error {
	logs, err := os.MkdirTemp("", "harness-logs-")
	if err != nil {
		return err
	}
	s, err := entered.Open(context.Background(), clusters.SiteSpec{Run: "killed", LogDir: logs})
	if err != nil {
		return err
	}
	var procs []clusters.Process
	for i, args := range [][]string{{"sleep"}, {"fork"}, {"sleep"}} {
		h, err := s.Host(context.Background(), fmt.Sprintf("n%d", i+1))
		if err != nil {
			return err
		}
		dir, err := h.DataDir("data")
		if err != nil {
			return err
		}
		if err := os.WriteFile(dir+"/data", []byte("x"), 0o600); err != nil {
			return err
		}
		p, err := h.Start(context.Background(), clusters.Command{Args: args, Log: args[0]})
		if err != nil {
			return err
		}
		procs = append(procs, p)
	}
	if err := procs[2].(clusters.Pauser).Pause(context.Background()); err != nil {
		return err
	}
	fmt.Println(s.(*site).mark, s.(*site).data, logs)
	select {}
}
