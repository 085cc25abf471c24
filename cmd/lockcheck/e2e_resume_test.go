//go:build e2e

package main_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockcheck/reports/compare"
)

// A comparison that is killed in the middle is gone on with: what was made stays as it was, what is missing is run, and nothing
// is run twice. Judged again it is what it was.
func TestAKilledComparisonGoesOn(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	args := []string{"compare", "--backends=etcd", oneServer, "--nemeses=none", "--provider=local", "--time-limit=3s", "--jobs=1", "--seed=1", "--repeat=2", "--out=" + out}
	cmd := exec.Command(program, args...)
	over := sync.OnceFunc(placeFor(cmd))
	defer over()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	latest := filepath.Join(out, compare.LatestLink)
	made := func() (n int) {
		if c, err := compare.ReadDir(latest); err == nil {
			for _, cell := range c.Cells {
				n += cell.Made
			}
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); made() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no run was kept in a minute")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	over()
	before, err := compare.ReadDir(latest)
	if err != nil || !before.Interrupted || made() == 4 {
		t.Fatalf("killed in the middle: %+v, %v", before, err)
	}
	o := finish(t, exec.Command(program, "compare", "--resume="+latest), outcome{out: out})
	after, err := compare.ReadDir(latest)
	if err != nil || o.code != 0 || after.Interrupted {
		t.Fatalf("exit %d, %v\n%s%s", o.code, err, o.stdout, o.stderr)
	}
	for i, cell := range after.Cells {
		if cell.Made != 2 || cell.Outcome != compare.Met || cell.Runs[0].Seed != 1 || cell.Runs[1].Seed != 2 {
			t.Errorf("%v: %d runs, %s", cell.Cell, cell.Made, cell.Outcome)
		}
		for n, run := range before.Cells[i].Runs {
			if run.Dir != cell.Runs[n].Dir {
				t.Errorf("%v: run %d was made again", cell.Cell, n+1)
			}
		}
	}
	judged := finishAtOnce(t, exec.Command(program, "compare", "--check="+latest), outcome{out: out})
	if c, err := compare.ReadDir(latest); err != nil || judged.code != 0 || c.Sentence() != after.Sentence() || c.Cells[0].Made != 2 {
		t.Errorf("judged again: exit %d, %v\n%s%s", judged.code, err, judged.stdout, judged.stderr)
	}
	if again := finishAtOnce(t, exec.Command(program, "compare", "--only-failed="+latest, "--out="+out), outcome{out: out}); again.code != 64 {
		t.Errorf("every cell was as it should be; --only-failed: exit %d\n%s", again.code, again.stderr)
	}
}
