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
	for _, backend := range []string{"etcd", "other"} {
		says := "attached to " + backend + " at " + member.endpoint + ": 2 clients will take and release 1 lock there, with at most 5 acquires a second together"
		if strings.Count(o.stderr, says) != 1 {
			t.Errorf("it does not say once: %s\n%s", says, o.stderr)
		}
	}
	if got := strings.Count(o.stderr, "\n"); got != 2 {
		t.Errorf("with --quiet there are %d lines, want the two of what the runs do:\n%s", got, o.stderr)
	}
	alone := lockcheck(t, program, "run", "--seed=1", "--backend=etcd", "--attach="+member.endpoint, "--clients=2", "--time-limit=1s", "--quiet")
	endsWith(t, alone, alone.code, "attached to etcd at "+member.endpoint, "at most 20 acquires a second together")
	slow := lockcheck(t, program, "compare", "--file="+file, "--seed=1", "--jobs=2", "--max-rate=1")
	endsWith(t, slow, 64, "--max-rate=1 is of all runs side by side, and --jobs=2 are more")
	app.found(t)
}
