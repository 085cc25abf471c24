//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/testkit/needs"
)

// harness is a run with servers, data, clients, a client of an image and paused processes, to be killed.
func harness(args []string) error {
	ctx := context.Background()
	logs, err := os.MkdirTemp("", "harness-logs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(logs)
	s, err := (&Provider{Image: args[0], ClientImage: args[0]}).Open(ctx, clusters.SiteSpec{
		Run: args[1], LogDir: logs, Software: clusters.Software{Backend: "test", InImage: []string{"lockcheck", "sleep"}, ImageData: "/data"},
	})
	if err != nil {
		return err
	}
	command, err := s.Server(ctx)
	if err != nil {
		return err
	}
	command.Log, command.Data = "server", "data"
	n1, err := s.Host(ctx, "n1")
	if err != nil {
		return err
	}
	if _, err := n1.Start(ctx, command); err != nil {
		return err
	}
	c1, err := s.Host(ctx, "c1")
	if err != nil {
		return err
	}
	p, err := c1.Start(ctx, clusters.Command{Args: []string{"sleep"}, Log: "sleep", Pipes: true})
	if err != nil {
		return err
	}
	if err := p.(clusters.Pauser).Pause(ctx); err != nil {
		return err
	}
	guest, err := c1.Start(ctx, clusters.Command{InClientImage: true, Args: []string{"lockcheck", "sleep"}, Log: "guest", Pipes: true})
	if err != nil {
		return err
	}
	if err := guest.(clusters.Pauser).Pause(ctx); err != nil {
		return err
	}
	fmt.Println("up", logs)
	select {}
}

// Where users do not see each other's processes, a run of another one must not be taken for one that is over.
func TestAnOwnerThatProcHidesIsNotGone(t *testing.T) {
	if os.Getuid() != 0 {
		needs.Skip(t, "only root can mount such a /proc and become another user")
	}
	me, err := owner()
	if err != nil {
		t.Fatal(err)
	}
	here, err := machine()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(selfPath, "judge-hidden", here, me)
	other.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// judgeHidden judges an owner as a user from whom /proc hides it.
func judgeHidden(args []string) error {
	if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid=2"); err != nil {
		return err
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
		return err
	}
	if _, err := procs.ReadStat(os.Getppid()); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the owner is not hidden: %v", err)
	}
	labels := map[string]string{labelRun: "r", labelOwner: args[1], labelSince: time.Now().UTC().Format(time.RFC3339)}
	if orphaned(labels, args[0], time.Now()) {
		return errors.New("it was taken for gone")
	}
	return nil
}

func TestOrphans(t *testing.T) {
	me, err := owner()
	if err != nil {
		t.Fatal(err)
	}
	here, err := machine()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	since := now.UTC().Format(time.RFC3339)
	yesterday := now.Add(-25 * time.Hour).UTC().Format(time.RFC3339)
	for name, c := range map[string]struct {
		owner, since string
		want         bool
	}{
		"our own":                        {me, yesterday, false},
		"a process id of another":        {me[:strings.LastIndex(me, "/")] + "/1", since, true},
		"a process that is gone":         {here + "/4194305/1", since, true},
		"another machine's":              {"another/1/1/1", since, false},
		"another machine's of yesterday": {"another/1/1/1", yesterday, true},
		"no owner":                       {"", yesterday, false},
		"garbage":                        {here + "/x", yesterday, false},
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{labelRun: "r", labelOwner: c.owner, labelSince: c.since}
			if got := orphaned(labels, here, now); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
