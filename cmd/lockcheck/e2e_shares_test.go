//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// Jobs and shards share the runs of one cell: each has its own directory and the seed that it has in the whole, and merged they are one cell.
func TestJobsAndShardsShareOneCell(t *testing.T) {
	t.Parallel()
	args := []string{"--backends=etcd", oneServer, "--nemeses=none", "--workloads=lock", "--provider=local", "--time-limit=3s", "--seed=7", "--repeat=5", "--jobs=3"}
	merge := []string{"merge"}
	for _, shard := range []string{"1/2", "2/2"} {
		o := lockcheck(t, program, append([]string{"compare", "--shard=" + shard}, args...)...)
		if o.code != 0 {
			t.Fatalf("shard %s: exit %d\n%s%s", shard, o.code, o.stdout, o.stderr)
		}
		_, dir := compared(t, o)
		merge = append(merge, dir)
	}
	o := atOnce(t, program, merge...)
	if o.code != 0 {
		t.Fatalf("merged: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, err := compare.ReadDir(o.out)
	if err != nil || len(c.Cells) != 1 || c.Cells[0].Conclusive != 5 || len(c.MissingShards) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	seen := map[string]bool{}
	for i, run := range c.Cells[0].Runs {
		if run.Seed != int64(7+i) || seen[run.Dir] {
			t.Errorf("run %d has seed %d, in %s", i+1, run.Seed, run.Dir)
		}
		seen[run.Dir] = true
		if _, err := os.Stat(filepath.Join(o.out, filepath.FromSlash(run.Dir), rundir.HistoryFile)); err != nil {
			t.Error(err)
		}
	}
}
