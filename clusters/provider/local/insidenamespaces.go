//go:build linux

package local

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
	"lockcheck/clusters/provider/relay"
)

// dataMounts are directories that a private tmpfs may cover, best first. /dev/shm is meant for such data, and programs
// that use shared memory go on working with the private one.
var dataMounts = []string{"/dev/shm", "/mnt", "/media", "/srv"}

// settle makes the inner process at home in its namespaces and tells the outer one. It does not return if it cannot:
// the outer process then does without.
func settle(entry Entry) *Provider {
	_ = os.Unsetenv(envInside)
	status := os.NewFile(fdStatus, "status")
	syscall.CloseOnExec(fdStatus)
	syscall.CloseOnExec(fdLifeline)
	data, err := moveIn(entry.Keep)
	var way relay.Outside = relay.NewPlaces(nil)
	if err == nil && len(entry.Places) > 0 {
		syscall.CloseOnExec(fdDoor)
		var door *net.UnixConn
		if door, err = doorEnd(os.NewFile(fdDoor, "door")); err == nil {
			way = newDoorway(door)
		}
	}
	if err != nil {
		fmt.Fprintln(status, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	go holdOn(os.NewFile(fdLifeline, "lifeline"))
	go procs.ReapOrphans(func(pid int) bool { _, known := ours.Load(pid); return known })
	// A background process group may be refused the terminal (stty tostop); ignoring the signal allows it.
	signal.Ignore(syscall.SIGTTOU)
	fmt.Fprintln(status, statusReady)
	leaving = status
	return &Provider{inside: true, data: data, outside: way}
}

// leaving takes the inner process's word that it ends as it means to; nil outside.
var leaving *os.File

// Exit ends the program with code. An inner process that ends without it has crashed, and the outer one says so: Go
// exits with 2 after a panic, which would be taken for a verdict.
func Exit(code int) {
	if leaving != nil {
		fmt.Fprintln(leaving, statusLeaving)
	}
	os.Exit(code)
}

// moveIn makes the mounts and tries, once, all that hosts will need, so that a refusal is found while there is still
// another way to go. It returns the directory for the run's data.
func moveIn(keep []string) (string, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("make mounts private: %w", err)
	}
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", quiet, ""); err != nil {
		return "", fmt.Errorf("mount a /proc of the run's own (containers that hide parts of /proc refuse this): %w", err)
	}
	data, err := dataMount(keep)
	if err != nil {
		return "", err
	}
	if err := unix.Mount("lockcheck", data, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return "", fmt.Errorf("mount tmpfs over %s: %w", data, err)
	}
	if err := probeNetwork(); err != nil {
		return "", err
	}
	return data, nil
}

// dataMount chooses the directory to cover: one that hides nothing the run needs.
func dataMount(keep []string) (string, error) {
	if cwd, err := os.Getwd(); err == nil {
		keep = append(keep, cwd)
	}
	if exe, err := os.Executable(); err == nil {
		keep = append(keep, exe)
	}
	for _, dir := range dataMounts {
		// A link would be followed, and cover something that was not looked at.
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		if !coversAny(dir, keep) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no directory can be covered with a private tmpfs: tried %s", strings.Join(dataMounts, ", "))
}

func coversAny(dir string, paths []string) bool {
	for _, path := range paths {
		rel, err := filepath.Rel(dir, realPath(path))
		if err != nil || (rel != ".." && !strings.HasPrefix(rel, "../")) {
			return true
		}
	}
	return false
}

// realPath resolves the links in as much of the path as exists.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for dir, rest := path, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

// holdOn ends the process, and so the run, when the outer process is gone. The parent-death signal does it sooner;
// this covers a parent that died before the signal was set.
func holdOn(lifeline *os.File) {
	for {
		if n, err := lifeline.Read(make([]byte, 1)); n == 0 && err != nil {
			os.Exit(128 + int(syscall.SIGKILL))
		}
	}
}
