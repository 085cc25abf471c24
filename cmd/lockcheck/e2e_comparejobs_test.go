//go:build e2e

package main_test

import (
	"testing"

	"lockcheck/reports/compare"
)

// Jobs side by side: behind the locks of two backends a paused holder's job is run twice, and with idempotency keys it is told apart. A
// pause that takes effect late on a busy machine comes after the job was recorded: there have to be several.
const jobsCompared = `
backends:
  etcd: {time-limit: 90s}
  etcd-idempotent: {backend: etcd, execution: idempotent, time-limit: 24s}
  redis: {nodes: 1, time-limit: 90s}
matrix:
  nemeses: ["pause:holder@work"]
  workloads: [jobs]
expectations:
  - backend: [etcd, redis]
    expect:
      double-execution: violation
      stale-write: violation
      mutual-exclusion: [violation, pass]
      lost-update: [violation, pass]
      resource-linearizability: [violation, pass]
    reason: the next holder runs the slot of a paused one, which records it once more when it goes on
  - backend: etcd-idempotent
    expect: {double-execution: masked, mutual-exclusion: [masked, pass]}
    reason: the resource knows the slot
`

func TestCompareJobs(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "compare", "--file="+writeFile(t, "jobs.yaml", jobsCompared), "--provider=local", "--seed=1", "--until=violation", "--jobs=2")
	if o.code != 0 {
		t.Fatalf("exit %d, want 0\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, _ := compared(t, o)
	if len(c.Cells) != 3 {
		t.Fatalf("%d cells", len(c.Cells))
	}
	for _, cell := range c.Cells {
		if cell.Outcome != compare.Met || cell.Made == 0 {
			t.Errorf("%v is %s after %d runs", cell.Cell, cell.Outcome, cell.Made)
		}
	}
}
