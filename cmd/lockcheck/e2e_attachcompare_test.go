//go:build e2e

package main_test

import (
	"strings"
	"testing"
)

// Runs of a comparison side by side share the command's rate, and each says what it is about to do, although it is asked to be quiet;
// so does a single run. A service that lockcheck has no backend for is compared by the name of its client's.
func TestComparisonsOfAttachedServicesShareTheRateAndSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	member := startEtcd(t, "127.0.0.1", "")
	app := member.use(t)
	file := writeFile(t, "lockcheck.yaml", `
defaults: {time-limit: 2s, clients: 2, attach: "`+member.endpoint+`", max-rate: 10}
backends:
  etcd:
  theirs: {backend: other, client: "`+program+` client etcd"}
matrix: {nemeses: [none], workloads: [lock]}
`)
	o := lockcheck(t, program, "compare", "--file="+file, "--seed=1", "--jobs=2", "--quiet", "--provider=local")
	if o.code != 0 && o.code != 2 { // so slowly, and in so short a time, too little may be tested
		t.Errorf("exit %d, want 0 or 2\n%s", o.code, o.stderr)
	}
	all, serviceOf := 0, map[string]string{"etcd": "etcd", "theirs": "other"}
	c, _ := compared(t, o)
	if len(c.Cells) != 2 {
		t.Fatalf("%d cells, want 2\n%s", len(c.Cells), o.stderr)
	}
	for _, cell := range c.Cells {
		if len(cell.Runs) != 1 {
			t.Fatalf("%s: %d runs, want 1\n%s", cell.Backend, len(cell.Runs), o.stderr)
		}
		made := 1
		if cell.Runs[0].Alone != "" { // on a busy machine, and the second run tells of itself as well
			made = 2
		}
		says := "attached to " + serviceOf[cell.Backend] + " at " + member.endpoint + ": 2 clients will take and release 1 lock there, with at most 5 acquires a second together"
		if got := strings.Count(o.stderr, says); got != made {
			t.Errorf("it was made %d times, and says %d times: %s\n%s", made, got, says, o.stderr)
		}
		all += made
	}
	if got := strings.Count(o.stderr, "\n"); got != all {
		t.Errorf("with --quiet there are %d lines, want the %d of what the runs do:\n%s", got, all, o.stderr)
	}
	alone := lockcheck(t, program, "run", "--seed=1", "--backend=etcd", "--attach="+member.endpoint, "--clients=2", "--time-limit=1s", "--quiet")
	endsWith(t, alone, alone.code, "attached to etcd at "+member.endpoint, "at most 20 acquires a second together")
	slow := atOnce(t, program, "compare", "--file="+file, "--seed=1", "--jobs=2", "--max-rate=1")
	endsWith(t, slow, 64, "--max-rate=1 is of all runs side by side, and --jobs=2 are more")
	app.found(t)
}
