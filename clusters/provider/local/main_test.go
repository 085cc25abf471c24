//go:build linux

package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// entered is the provider of a test binary that was asked to enter.
var entered *Provider

// helpers are what the test binary does when it is started as a process of a run, or as a harness of its own.
var helpers = testkit.Helpers{
	JanitorCommand: Janitor,
	"sleep":        testkit.Sleep,
	"echo":         testkit.Echo,
	"talk":         testkit.Talk,
	"print-env":    func([]string) error { fmt.Println(strings.Join(os.Environ(), "\n")); return nil },
	"net-ns":       func([]string) error { ns, err := os.Readlink("/proc/self/ns/net"); fmt.Println(ns); return err },
	"fork":         fork,
	"abandon":      abandon,
	"tree":         tree,
	"multiply":     multiply,
	"who":          who,
	"share":        share,
	"exit-code":    func([]string) error { Exit(3); return nil },
	"panic":        func([]string) error { panic("a bug") },
	"harness":      harness,
	"interrupts":   interrupts,
}

func TestMain(m *testing.M) {
	entered = testkit.Enter(func() (*Provider, int, error) { return Entry{Places: strings.Fields(os.Getenv(envPlaces))}.Enter() })
	helpers.Play(Exit)
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
	self := testkit.Self()
	all := []mode{
		{"namespaces", self, nil, true},
		{"loopback", self, []string{EnvNamespaces + "=off"}, false},
	}
	if self == 0 {
		all = append(all, mode{"unprivileged", testkit.Nobody, nil, true}, mode{"unprivileged loopback", testkit.Nobody, []string{EnvNamespaces + "=off"}, false})
	}
	return all
}

// command is the test binary again, in this mode.
func (m mode) command(args ...string) *exec.Cmd {
	cmd := testkit.Command(m.uid, args...)
	cmd.Env = append(cmd.Env, m.env...)
	return cmd
}

// everywhere runs a test once in each mode, each time in a process of its own that entered as the harness does.
func everywhere(t *testing.T, test func(t *testing.T, s clusters.Site)) {
	t.Helper()
	if entered != nil {
		if want := os.Getenv("LOCKCHECK_TEST_ISOLATED") == "true"; entered.inside != want {
			t.Fatalf("isolated is %v (%s), want %v", entered.inside, entered.reason, want)
		}
		test(t, testkit.Open(t, entered, clusters.Software{}))
		return
	}
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			testkit.Again(t, m.uid, append(m.env, fmt.Sprintf("LOCKCHECK_TEST_ISOLATED=%v", m.isolated))...)
		})
	}
}

// fork starts a process that outlives it, unless it is seen to, and names it.
func fork([]string) error {
	cmd := exec.Command(selfPath, "sleep")
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return testkit.Sleep(nil)
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
	tree := []string{"tree"}
	if needsNamespaces() { // else only the mark finds it
		tree = append(tree, "unmarked")
	}
	for i, args := range [][]string{{"sleep"}, {"fork"}, tree, {"sleep"}} {
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
		p, err := h.Start(context.Background(), clusters.Command{Args: args, Log: args[0], OtherUser: args[0] == "tree"})
		if err != nil {
			return err
		}
		procs = append(procs, p)
	}
	if err := procs[3].(clusters.Pauser).Pause(context.Background()); err != nil {
		return err
	}
	fmt.Println(s.(*site).mark, s.(*site).data, logs)
	return testkit.Sleep(nil)
}
