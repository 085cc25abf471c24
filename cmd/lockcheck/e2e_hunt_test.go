//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/reports/hunts"
)

// A hunt of a minute makes runs, is killed, and goes on: what was under way is made again, and nothing else.
func TestAHuntIsKilledAndGoesOn(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	args := []string{"hunt", "--backend=redis", "--nodes=1", "--budget=1m", "--time-limit=3s", "--jobs=1", "--seed=1", "--out=" + out}
	cmd := command(program, args...)
	over := placeFor(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(out, "latest-hunt")
	for began := time.Now(); outcomes(dir) == 0 && time.Since(began) < 5*time.Minute; {
		time.Sleep(100 * time.Millisecond)
	}
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	over()
	before := outcomes(dir)
	if before == 0 {
		t.Fatal("no run in five minutes")
	}
	o := finish(t, command(program, "hunt", "--resume="+dir, "--jobs=1"), outcome{out: out})
	if o.code > 2 {
		t.Errorf("exit %d\n%s", o.code, o.stderr)
	}
	if after := outcomes(dir); after <= before || !strings.Contains(o.stdout, "runs, ") {
		t.Errorf("%d runs, %d before it was killed: %s", after, before, o.stdout)
	}
}

// outcomes counts what a hunt's journal has of ended runs.
func outcomes(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, hunts.JournalFile))
	return strings.Count(string(text), `"outcome"`)
}
