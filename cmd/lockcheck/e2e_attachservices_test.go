//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Services that a test starts by hand, outside of any provider, for runs that attach to them.

// cutOff cuts a holder off past its lease. While it waits for the lock it is cut off from the resource, so that what it asks there once it is
// granted the lock keeps it a holder, however long it takes until the cut from the servers is seen to work. A cut that is begun when the
// holder is at work comes after the hold, if the machine is busy.
const cutOff = "partition:client(1)-resource@queue;partition:client(1)-servers@acquire,1.5ttl"

// disturbance is a fault of a run at a service that others run, and how it may end.
type disturbance struct {
	nemesis, exposure string
	codes             []int
}

// What is done to holders. Only a lease ends while they are paused: without one, no other client gets the lock.
var (
	pauseHolder       = disturbance{"pause:holder@work,1.5ttl", "pauses-past-the-lease", []int{1}}
	pauseHarmless     = disturbance{pauseHolder.nemesis, pauseHolder.exposure, []int{0}}
	cutOffHolder      = disturbance{cutOff, "partitions-past-the-lease", []int{0, 1}}
	cutOffHarmless    = disturbance{cutOff, "partitions-past-the-lease", []int{0}}
	cutOffFromServers = disturbance{"partition:holder-servers@work,1.5ttl", "partitions", []int{0, 1, 2}} // in time for a hold or not
)

// whatHoldersMeet is the disturbances of a service that is attached to. What cuts a client off is the provider's, the same for every service:
// TestAttachedToEtcdUnderPausesAndPartitions shows it.
func whatHoldersMeet() []disturbance {
	if soaking() {
		return []disturbance{pauseHolder, cutOffHolder}
	}
	return []disturbance{pauseHolder}
}

// neverPastTheLease is the only thing that such a run may not have shown: its cuts took effect, each after the hold that it was to meet.
const neverPastTheLease = "no partition of a holder outlived its lease"

// disturbedRun is a run that a fault took effect in, and that left nothing.
func disturbedRun(t *testing.T, secret string, d disturbance, args ...string) outcome {
	t.Helper()
	args = append(args, "--nemesis="+d.nemesis)
	switch {
	case slices.Equal(d.codes, []int{1}):
		args = endingAt(harmed, args...)
	case d.nemesis == pauseHolder.nemesis:
		args = append(args, meetsPause)
	case d.nemesis == cutOff: // a busy machine needs that for both cuts; one that is not has done with the first late write
		args = append(args, "--until=stale-write", "--time-limit=20s")
	}
	o := attachedRun(t, secret, args...)
	if !slices.Contains(d.codes, o.code) {
		t.Fatalf("%s: exit %d, want one of %v\n%s", d.nemesis, o.code, d.codes, o.stderr)
	}
	if o.code == 2 && o.results.Reason != neverPastTheLease {
		t.Errorf("%s: inconclusive because %q, and may be because %q only", d.nemesis, o.results.Reason, neverPastTheLease)
	}
	endsWith(t, o, o.code, "5 clients will take and release", "at most 20 acquires a second")
	exposed(t, o, d.exposure)
	notJudged(t, o)
	nothingRemembered(t, o)
	return o
}

// application is another program that uses a service all the time.
type application struct {
	wrote chan []string
	stop  context.CancelFunc
	there func() []string
}

// use has another program write until it is asked what it wrote. write writes the n-th thing, never one twice, and returns how there will
// tell of it, which lists all that there is in the service. One is written before a run comes.
func use(t *testing.T, write func(n int) (string, error), there func() []string) application {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	a := application{make(chan []string, 1), stop, there}
	var wrote []string
	one := func(n int) {
		what, err := write(n)
		if err != nil {
			t.Errorf("another program's write: %v", err)
			return
		}
		wrote = append(wrote, what)
	}
	one(0)
	go func() {
		for n := 1; ctx.Err() == nil; n++ {
			one(n)
			time.Sleep(100 * time.Millisecond) // also while the run waits for its place
		}
		a.wrote <- wrote
	}()
	return a
}

// found ends the other program, and wants all that there is in the service to be what it wrote.
func (a application) found(t *testing.T) {
	t.Helper()
	a.stop()
	wrote := <-a.wrote
	if got := a.there(); !slices.Equal(got, wrote) || len(wrote) < 10 {
		t.Errorf("another program wrote %d things, and there are %d: %.500q", len(wrote), len(got), slices.DeleteFunc(got, func(key string) bool { return slices.Contains(wrote, key) }))
	}
}

// startService starts a server that ends with the test.
func startService(t *testing.T, name string, args ...string) {
	t.Helper()
	startCommand(t, exec.Command(name, args...))
}

// startCommand is startService of a command that is prepared.
func startCommand(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := startOnAThreadThatStays(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s said last: %.2000s", cmd.Path, text[max(0, len(text)-2000):])
		}
		log.Close()
	})
}

// forking starts processes on one thread that never ends: the parent-death signal comes when the thread does.
var forking = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for do := range forking {
			do()
		}
	}()
}

func startOnAThreadThatStays(cmd *exec.Cmd) error {
	started := make(chan error)
	forking <- func() { started <- cmd.Start() }
	return <-started
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeAccess is a file for --attach-config.
func writeAccess(t *testing.T, password string, words map[string]string) string {
	t.Helper()
	var text strings.Builder
	for name, value := range words {
		fmt.Fprintf(&text, "%s: %q\n", name, value)
	}
	if password != "" {
		fmt.Fprintf(&text, "password_file: %q\n", writeFile(t, "password", password+"\n"))
	}
	return writeFile(t, "access.yaml", text.String())
}

// awaitService waits until a server answers.
func awaitService(t *testing.T, ask func(context.Context) error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := ask(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
