//go:build linux

package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// who says which user and group it is, and makes a file.
func who(args []string) error {
	fmt.Fprintln(os.Stderr, "to the log")
	fmt.Println(os.Geteuid(), os.Getegid())
	return os.WriteFile(filepath.Join(args[0], "made"), nil, 0o600)
}

// share makes a piece of System V shared memory under a key, which outlives it, as that of killed servers does.
func share(args []string) error {
	key, err := strconv.Atoi(args[0])
	if err == nil {
		_, err = unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	}
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return testkit.Sleep(nil)
}

// startOther starts a helper with pipes that refuses to run as user id 0.
func startOther(t *testing.T, h clusters.Host, args ...string) clusters.Process {
	t.Helper()
	p, err := h.Start(t.Context(), clusters.Command{Args: args, Log: args[0], Pipes: true, OtherUser: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProgramThatRefusesToBeRootIsNot(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.Host(t, s, "n1")
		dir, err := h.DataDir("data")
		if err != nil {
			t.Fatal(err)
		}
		p := startOther(t, h, "who", dir)
		got := testkit.ReadLine(t, p.Stdout())
		if <-p.Done(); p.Err() != nil {
			t.Fatal(p.Err())
		}
		want := fmt.Sprint(os.Geteuid(), os.Getegid()) // who is not root already
		if needsNamespaces() {
			want = fmt.Sprint(otherID, otherID)
		}
		if got != want {
			t.Errorf("it is user and group %s, want %s", got, want)
		}
		if log, err := os.ReadFile(p.(clusters.Logged).LogPath()); err != nil || string(log) != "to the log\n" {
			t.Errorf("its log: %q, %v", log, err)
		}
		if _, err := os.ReadFile(filepath.Join(dir, "made")); err != nil {
			t.Error(err)
		}
		if err := h.Wipe(t.Context(), "data"); err != nil {
			t.Error(err)
		}
	})
}

// needsNamespaces reports whether another user takes namespaces here: users other than root are another one already.
func needsNamespaces() bool { return needsOther(clusters.Command{OtherUser: true}) }

func TestSharedMemoryOfAKilledServerIsGone(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		if !needsNamespaces() {
			return // what is made there is the machine's, and only its maker takes it away
		}
		key := 1 + rand.IntN(1<<30)
		p := startOther(t, testkit.Host(t, s, "n1"), "share", strconv.Itoa(key))
		testkit.ReadLine(t, p.Stdout())
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if id, err := unix.SysvShmGet(key, 4096, 0); err == nil {
			_, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			t.Errorf("it was left (removed now: %v)", err)
		}
	})
}

// A program that cannot be started for a reason of its own is not said to want namespaces.
func TestAnotherUserIsBlamedForNothingElse(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		h := testkit.Host(t, s, "n1")
		for _, program := range []string{"/no-such-program", "/etc/passwd"} {
			_, err := h.Start(t.Context(), clusters.Command{Program: program, Log: "x", OtherUser: true})
			if err == nil || errors.Is(err, clusters.ErrUnavailable) {
				t.Errorf("%s: %v", program, err)
			}
		}
	})
}

func TestAnotherUserIsRefusedByNameWhereTheKernelRefusesIt(t *testing.T) {
	everywhere(t, func(t *testing.T, s clusters.Site) {
		if !needsNamespaces() || !aloneInUserNamespace(t) {
			return // it could only be forbidden for the whole machine
		}
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			t.Fatal(err)
		}
		_, err := testkit.Host(t, s, "n1").Start(t.Context(), clusters.Command{Args: []string{"sleep"}, Log: "sleep", OtherUser: true})
		if !errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), "refuses to run as user id 0") {
			t.Errorf("got %v", err)
		}
	})
}

// aloneInUserNamespace reports whether the harness made its user namespace: the limit set there holds nowhere else.
func aloneInUserNamespace(t *testing.T) bool {
	t.Helper()
	users, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(users))
	return len(fields) == 3 && fields[2] == "1"
}
