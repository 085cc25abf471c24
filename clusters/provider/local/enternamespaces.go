//go:build linux

package local

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/relay"
)

// EnvNamespaces chooses whether to use namespaces: "auto" (or unset) tries, "off" does not.
const EnvNamespaces = "LOCKCHECK_NAMESPACES"

// envInside marks the inner process. It is unset before anything else can inherit it.
const envInside = "LOCKCHECK_INSIDE"

// File descriptors that the inner process is born with.
const (
	fdStatus   = 3 // takes statusReady, or why the inner process cannot go on; at the end statusLeaving
	fdLifeline = 4 // ends when the outer process does
	fdDoor     = 5 // to places outside (outerdoor.go), where the run was told of some
)

const (
	statusReady   = "ready"
	statusLeaving = "leaving"
)

// exitCrashed is the exit code for a bug of lockcheck.
const exitCrashed = 70

// sameSignal is how close two signals of one kind must be to count as one: timeout(1) and some shells send theirs to
// the process and to its group, and the second would be taken for an impatient user's.
const sameSignal = 100 * time.Millisecond

// way is one way to get namespaces.
type way struct {
	name     string
	expected bool // whether it can be expected to work for this user
	attr     func() *syscall.SysProcAttr
}

const ownNamespaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS

// ways are tried in order. Root inside a container may be refused the first and allowed the second.
var ways = []way{
	{"as root", os.Geteuid() == 0, func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Cloneflags: ownNamespaces}
	}},
	{"in a user namespace", true, func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{
			Cloneflags:  ownNamespaces | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
	}},
}

// Enter puts the calling program into namespaces of its own by running it again inside them. Call it before anything
// that a second start would repeat.
//
// Inside it returns a provider, and the program goes on. Outside it returns a nil provider once the inner process has
// ended, with the code to exit with: the inner one's own, or 128 + the signal that killed it. Where namespaces are
// refused it returns a provider that works on loopback and says why. keep lists paths that the program will need:
// the private file system for the run's data is mounted over none of them. The only error is a bad EnvNamespaces.
func Enter(keep ...string) (*Provider, int, error) { return Entry{Keep: keep}.Enter() }

// Entry is what a program needs of what stays outside.
type Entry struct {
	Keep   []string // paths
	Places []string // host:port, which a run may connect to, by their numbers and from outside (clusters.Outward)
}

// Enter is the function Enter.
func (e Entry) Enter() (*Provider, int, error) {
	to := relay.NewPlaces(e.Places)
	if os.Getenv(envInside) != "" {
		return settle(e), 0, nil
	}
	switch mode := os.Getenv(EnvNamespaces); mode {
	case "", "auto":
	case "off":
		return &Provider{reason: EnvNamespaces + "=off: unset it to give every host a network of its own", outside: to}, 0, nil
	default:
		return nil, 0, fmt.Errorf("%w: %s=%q: use auto or off", clusters.ErrUsage, EnvNamespaces, mode)
	}
	var refused []string
	for _, w := range ways {
		if !w.expected {
			continue
		}
		code, err := w.run(to)
		if err == nil {
			return nil, code, nil
		}
		refused = append(refused, fmt.Sprintf("%s: %v", w.name, err))
	}
	return &Provider{outside: to, reason: "namespaces are refused here (" + strings.Join(refused, "; ") + "): run as root, let users make " +
		"them (sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0), or use " +
		clusters.ChooseDocker}, 0, nil
}

// run starts the inner process and waits for it. The error says that the inner process could not get so far as to do
// any of the program's work.
func (w way) run(to *relay.Places) (int, error) {
	// The parent-death signal comes when the thread that forked ends, so this one must not be given back to the
	// runtime before the inner process has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	status, statusInner, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer status.Close()
	lifelineInner, lifeline, err := os.Pipe()
	if err != nil {
		statusInner.Close()
		return 0, err
	}
	defer lifeline.Close()
	extra := []*os.File{statusInner, lifelineInner}
	if to.Any() {
		door, doorInner, err := newDoor()
		if err != nil {
			return 0, err
		}
		defer door.Close()
		extra = append(extra, doorInner)
		go keepDoor(door, to)
	}

	// Before the start, so that no signal falls between the two processes.
	signals := make(chan os.Signal, 8)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // nohup, and shells for what runs in the background
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)

	// By this link, the program is found even if its file was replaced or lies where the new user may not look.
	inner := exec.Command("/proc/self/exe")
	inner.Args = os.Args
	inner.Env = append(os.Environ(), envInside+"=1")
	inner.Stdin, inner.Stdout, inner.Stderr = os.Stdin, os.Stdout, os.Stderr
	inner.ExtraFiles = extra
	inner.SysProcAttr = w.attr()
	inner.SysProcAttr.Pdeathsig = syscall.SIGKILL
	// A process group of its own: what a terminal sends reaches the outer process only, which passes it on once.
	inner.SysProcAttr.Setpgid = true
	err = inner.Start()
	for _, theirs := range extra {
		theirs.Close()
	}
	if err != nil {
		return 0, err
	}
	words := bufio.NewReader(status)
	line, _ := words.ReadString('\n')
	if line = strings.TrimSpace(line); line != statusReady {
		_ = inner.Process.Kill()
		err := inner.Wait()
		if line == "" {
			return 0, fmt.Errorf("the inner process ended while it set itself up: %w", err)
		}
		return 0, errors.New(line)
	}
	done := make(chan struct{})
	go forward(signals, inner.Process, done)
	err = inner.Wait()
	close(done)
	code, err := exitStatus(inner.ProcessState, err)
	if last, _ := words.ReadString('\n'); err == nil && inner.ProcessState.Exited() && strings.TrimSpace(last) != statusLeaving {
		fmt.Fprintf(os.Stderr, "lockcheck: the run crashed (exit code %d); what it recorded is kept\n", code)
		return exitCrashed, nil
	}
	return code, err
}

// forward passes signals on to the inner process, each once.
func forward(signals <-chan os.Signal, inner *os.Process, done <-chan struct{}) {
	last := map[os.Signal]time.Time{}
	for {
		select {
		case <-done:
			return
		case s := <-signals:
			if s == syscall.SIGHUP {
				s = syscall.SIGTERM // the terminal is gone: end in good order
			}
			if now := time.Now(); now.Sub(last[s]) > sameSignal {
				_ = inner.Signal(s)
				last[s] = now
			}
		}
	}
}

func exitStatus(state *os.ProcessState, err error) (int, error) {
	if state == nil {
		return 0, fmt.Errorf("waiting for the inner process: %w", err)
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return state.ExitCode(), nil
}
