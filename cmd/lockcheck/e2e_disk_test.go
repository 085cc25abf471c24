//go:build e2e

package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/cmd/internal/testkit"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// onDisk runs a command whose directory is on a disk of its own, which is filled up as soon as a run has recorded
// something; or before, if it is that small.
func onDisk(t *testing.T, size int, recordings string, args ...string) outcome {
	t.Helper()
	disk := testkit.Small(t, size)
	o := outcome{out: filepath.Join(disk, "out")}
	cmd := exec.Command(program, append(args, "--out="+o.out)...)
	defer placeFor(cmd)()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		for ctx.Err() == nil {
			found, _ := filepath.Glob(filepath.Join(o.out, recordings, "2*", rundir.HistoryFile))
			for _, name := range found {
				if info, err := os.Stat(name); err == nil && info.Size() > 10_000 {
					testkit.Fill(t, disk)
					return
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	o = finishAtOnce(t, cmd, o)
	stop()
	<-filled
	return o
}

// noRoom reports whether a full disk is named: by the kernel's words, or because the resource ended for it.
func noRoom(text string) bool {
	return strings.Contains(text, "no space left on device") || strings.Contains(text, "no room for its log")
}

// A run whose recording has no room ends with the reason and without a verdict, above all without a pass: what is missing
// from the recording may be the violation. Room is something that is needed, like a server's program.
func TestRunOnADiskThatFillsUp(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"before the first operation": 4 << 10, "while it runs": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := onDisk(t, size, "", "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=30s", "--seed=1")
			if o.code != 69 || !noRoom(o.stderr) {
				t.Errorf("exit %d, want 69 and why", o.code)
			}
			if strings.Contains(o.stdout, "PASS") {
				t.Errorf("it passed:\n%s", o.stdout)
			}
			if _, err := os.Stat(filepath.Join(o.run(), rundir.ResultsFile)); err == nil {
				t.Error("there are results")
			}
			if size < 1<<20 {
				return
			}
			if again := finishAtOnce(t, exec.Command(program, "check", o.run(), "--quiet"), outcome{out: o.out}); again.code != 64 {
				t.Errorf("what was recorded is judged with exit %d, want 64: it has no end", again.code)
			}
			if partial := finishAtOnce(t, exec.Command(program, "check", o.run(), "--quiet", "--partial"), outcome{out: o.out}); partial.code != 2 {
				t.Errorf("as far as it goes it is judged with exit %d, want 2: a part is no pass", partial.code)
			}
		})
	}
}

// A comparison whose runs have no room says so of the cell; that its own files have none either changes nothing.
func TestComparisonOnADiskThatFillsUp(t *testing.T) {
	t.Parallel()
	o := onDisk(t, 8<<20, filepath.Join("compare-*", compare.RunsDir, "cell-*"), "compare", "--backends=etcd", oneServer, "--nemeses=none", "--workloads=lock", "--provider=local", "--time-limit=30s", "--seed=1")
	if o.code != 69 || !noRoom(o.stdout) || !strings.Contains(o.stdout, "? 1 cell, 1 could not be run") || strings.Count(o.stderr, "lockcheck: cannot write ") != 4 ||
		strings.Count(o.stderr, "warning: cannot write the index of runs") != 1 {
		t.Errorf("exit %d, want 69 and why", o.code)
	}
}

// A read-only directory for runs is refused before anything is started.
func TestRunWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	dir := testkit.Small(t, 64<<10)
	testkit.ReadOnly(t, dir)
	for _, args := range [][]string{{"run", "--backend=etcd", "--provider=local"}, {"compare", "--backends=etcd", "--nemeses=none"}} {
		o := finish(t, exec.Command(program, append(args, "--out="+filepath.Join(dir, "out"))...), outcome{out: dir})
		if o.code != 69 || !strings.Contains(o.stderr, "read-only file system") {
			t.Errorf("%q: exit %d, want 69 and why", args, o.code)
		}
	}
}
