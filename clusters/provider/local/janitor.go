//go:build linux

package local

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lockcheck/clusters/provider/procs"
)

const (
	sweepEvery   = 20 * time.Millisecond
	sweepTimeout = 10 * time.Second
)

// janitor is the harness's end of the process that cleans up behind a site on loopback.
type janitor struct {
	cmd      *exec.Cmd
	lifeline io.Closer // its standard input; ends with the harness
	notes    *bytes.Buffer
}

// startJanitor starts the janitor of a site and returns once it has made the directory data. The janitor makes it, so
// that there is no moment at which the harness could die and leave it behind.
func startJanitor(mark, data string) (*janitor, error) {
	j := &janitor{notes: &bytes.Buffer{}}
	j.cmd = &exec.Cmd{Path: selfPath, Args: []string{"lockcheck", JanitorCommand, "--mark", mark, "--data", data}}
	j.cmd.Env = []string{} // above all not the mark
	j.cmd.Dir = "/"
	j.cmd.Stderr = j.notes
	// A session of its own: neither Ctrl-C nor the end of the terminal is for it.
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	lifeline, err := j.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	j.lifeline = lifeline
	made, err := j.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := j.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the janitor: %w", err)
	}
	ours.Store(j.cmd.Process.Pid, true)
	if line, _ := bufio.NewReader(made).ReadString('\n'); line != statusReady+"\n" {
		return nil, fmt.Errorf("make the directory %s: %w", data, j.dismiss())
	}
	return j, nil
}

// dismiss lets the janitor do its work now and returns when it is done.
func (j *janitor) dismiss() error {
	defer ours.Delete(j.cmd.Process.Pid)
	j.lifeline.Close()
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("janitor: %w: %s", err, strings.TrimSpace(j.notes.String()))
	}
	return nil
}

// Janitor makes the directory for a site's data and waits for its standard input to end, which it does when the harness
// has ended however it ended. Then it kills the processes that bear the site's mark and removes the directory.
func Janitor(args []string) error {
	flags := flag.NewFlagSet(JanitorCommand, flag.ContinueOnError)
	mark := flags.String("mark", "", "value of "+EnvMark+" of the processes to kill")
	data := flags.String("data", "", "directory to make, and to remove in the end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(*mark) < 16 || !strings.HasPrefix(filepath.Base(*data), "lockcheck-") {
		return fmt.Errorf("janitor: refused: %q is no mark of a site or %q no data directory of one", *mark, *data)
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if err := os.Mkdir(*data, 0o700); err != nil {
		return err
	}
	fmt.Println(statusReady)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(sweep(*mark), os.RemoveAll(*data))
}

// sweep kills until two looks found none: a process may have forked while the first went on, and one that is just
// executing its program has no environment to be known by.
func sweep(mark string) error {
	empty := 0
	for deadline := time.Now().Add(sweepTimeout); ; time.Sleep(sweepEvery) {
		left := marked(mark)
		if len(left) > 0 {
			empty = 0
		} else if empty++; empty == 2 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v of a finished run do not end by SIGKILL", left)
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// marked lists the processes whose environment bears the mark. Ended ones have no environment.
func marked(mark string) []int {
	pids, _ := procs.Numbers()
	word := []byte(EnvMark + "=" + mark)
	var found []int
	for _, pid := range pids {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue // not ours to read, so not ours
		}
		for entry := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(entry, word) {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}
