// Package locktest runs lockcheck inside `go test`: a real lock service, real lock clients in processes of their own, real
// faults, and a test that fails with the story of what went wrong. It is for teams that want their own lock tested by
// their own test suite:
//
//	func TestMain(m *testing.M) {
//		locktest.Main(m, locktest.Client{Name: "ours", New: newLock})
//	}
//
//	func TestOurLockUnderPauses(t *testing.T) {
//		locktest.Run(t, locktest.Plan{Backend: "etcd", Client: "ours", Nemesis: "pause", Workload: "fencing"})
//	}
//
// The lock is one that comes with lockcheck (Client is its name, or empty for the backend's first); one of the team's own
// in Go, which implements client.Lock (package lockcheck/clusters/client) and is handed to Main; or any program that speaks
// the client protocol (Client is its path).
//
// # Main
//
// A run is made by processes that are the test binary, started again: servers, lock clients, the protected resource. Main
// has to be what TestMain does first, so that those become what they are to be instead of running the tests once more.
// The package's init functions run in each of them. The tests themselves stay where they are: outside of the
// namespaces and beyond the faults. They may run in parallel, as far as the machine carries several runs.
//
// # What fails
//
// A run that passes leaves nothing. One with a violation fails its test with the verdict in a sentence, the stories of the
// first findings, and the path of the report. A run that is inconclusive fails too, with the reason: the thing to be tested
// did not happen, and a test that shows nothing must not be green. Give it more time, or a nemesis that is aimed. A run that
// could not be made (bad usage, something missing on the machine) fails the test with what to do about it; see
// Plan.SkipUnavailable for the one exception.
//
// Faults are random. The seed is in the log, and LOCKCHECK_SEED=7 in the environment (or Plan.Seed) draws the same faults
// again. What a plan with expectations has to say is for lockcheck compare.
//
// On macOS and Windows runs need an engine, and the test binary once more, built for Linux: see "macOS and Windows" in
// clusters/README.md.
package locktest

import (
	"os"
	"testing"
	"time"

	"lockcheck/reports/rundir"
)

// Plan is a run. Its fields are the flags of lockcheck run, where the README explains them; those that are left out have
// the values that they have there.
type Plan struct {
	Backend  string // etcd, zookeeper, redis, redlock
	Client   string // default: the backend's first
	Workload string // lock (default), or fencing
	Nemesis  string // default: none
	Guard    string // none, before-work (default), before-write
	Provider string // auto (default), local, docker

	Clients   int               // 2 to 100; default 5
	Keys      int               // locks, 1 to 1000; default 1
	Nodes     int               // servers; default: the backend's default number
	TTL       time.Duration     // of a lease; default 2 s
	TimeLimit time.Duration     // how long clients work, 1 s to 24 h; default 30 s. Starting and ending takes some 10 s more
	Until     string            // ends the load once it was found: violation, or properties joined by commas; default: never
	Seed      int64             // default: $LOCKCHECK_SEED, else drawn
	Set       map[string]string // server settings

	Image, ServerBin, ServerJar string // where servers come from

	// Out is the directory for run directories, in which all runs are kept. Default: lockcheck-out beside the test, in which
	// only those are kept that did not pass.
	Out string

	// SkipUnavailable skips the test, with the reason, where something that the run needs is not on this machine (a server's
	// program, an engine, an ability of the kernel). With CI=true in the environment it fails all the same: a pipeline that
	// tests nothing must not be green.
	SkipUnavailable bool
}

// Run makes a run, judges it, and fails the test unless it passed. It returns the results, of a run that failed, too; a run
// that came to no verdict ends the test.
func Run(t testing.TB, plan Plan) *rundir.Results {
	t.Helper()
	if !dispatched {
		t.Fatal("locktest.Run: TestMain of this package has to call locktest.Main first; see the documentation of package locktest")
	}
	options, err := plan.options(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := at.Deadline(); ok && time.Until(deadline) < options.TimeLimit {
			t.Fatalf("-timeout leaves %v, and the run takes more than %v: use a longer -timeout, or a shorter TimeLimit", time.Until(deadline).Round(time.Second), options.TimeLimit)
		}
	}
	answer, err := ask(t.Context(), options, t.Output())
	switch {
	case err != nil && unavailable(err) && plan.SkipUnavailable && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	case answer.Failure != "":
		t.Errorf("lockcheck: %s", answer.Failure)
	case plan.Out == "":
		if err := answer.forget(); err != nil {
			t.Logf("the run passed, and its directory cannot be removed: %v", err)
		}
	}
	return &answer.Results
}
