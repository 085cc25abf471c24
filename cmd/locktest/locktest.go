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
// The workload fencing passes under pauses only with a lock that hands on tokens, which one made by Simple does not.
//
// Run these tests with -count=1. Go keeps the result of a test that passed, and prints it again (cached) as long as code and files are
// the same: no run is made then, and faults that are drawn anew each time are never drawn.
//
// # Main
//
// A run is made by processes that are the test binary, started again: servers, lock clients, the protected resource. Main
// has to be what TestMain does first, so that those become what they are to be instead of running the tests once more.
// The package's init functions run in each of them. The tests themselves stay where they are: outside of the
// namespaces and beyond the faults. They may run in parallel, as far as the machine carries several runs.
//
// # A lock of one's own
//
// Simple makes a client of a function that locks, where unlock and a channel for its loss are all that the lock has; it says
// what cannot be seen that way. A client.Lock says more, and three rules decide whether that can be believed. Where one
// cannot be kept, say less: what is not said may hide a violation, and a wrong word accuses a service that did nothing wrong.
//
//   - Seen: the harness sends pings, and Watch.Seen is the number of the last one that this process has read. Take it just
//     before a request is sent, never after, and hand it on with the grant or the lease that this request brought: the
//     grant cannot have been made before that ping. Of several attempts, the winning one's counts.
//   - Leases: report Watch.Lease once the server has acknowledged a request that set or extended it, with the Seen of that
//     very request and with the time that the server granted, not the one asked for. A renewal without an answer is none.
//     Watch.Ended is for a server's answer that the session is gone; Watch.Lost for what the library tells its user, not
//     earlier and not later.
//   - Definite: an error made by client.Definite says that the operation did not happen and never will: the service
//     refused it, or it was never sent, or the record it left was seen to be removed (client.CodeBusy, CodeCancelled, CodeNotOwned,
//     CodeRefused). A timeout, a broken connection, an answer that was lost are never definite: return them as they are.
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
	"fmt"
	"os"
	"testing"
	"time"

	"lockcheck/reports/rundir"
)

// Plan is a run. Its fields are the flags of lockcheck run, where the README explains them; those that are left out have
// the values that they have there.
type Plan struct {
	Backend  string // etcd, zookeeper, redis, redlock, postgres, consul, kubernetes, nats, mariadb, s3
	Client   string // default: the backend's first
	Workload string // lock (default), fencing, or jobs
	Resource string // plain, fenced, cas, etcd, postgres, redis; default: the workload's; or the path of a program of yours
	Nemesis  string // default: none
	Guard    string // none, before-work (default), before-write, ask, ask-stale
	Provider string // auto (default), local, docker

	Slot      time.Duration // of workload jobs: the time between two slots; 50 ms to 1 h, default 500 ms
	Execution string        // of workload jobs: at-least-once (default), at-most-once, idempotent

	Clients   int               // 2 to 100; default 5
	Keys      int               // locks, 1 to 1000; default 1
	Nodes     int               // servers; default: the backend's default number
	TTL       time.Duration     // of a lease; default 2 s
	TimeLimit time.Duration     // how long clients work, 1 s to 24 h; default 30 s. Starting and finishing takes 20 s more at most, as a rule
	Work      string            // how long holders work: shortest..longest, and ,long behind it for holds beyond a lease; default 20ms..120ms
	Until     string            // ends the load once it was found: violation, exposed, or properties joined by commas; default: never
	Seed      int64             // default: $LOCKCHECK_SEED, else drawn
	Set       map[string]string // server settings

	Image, ServerBin, ServerJar string // where servers come from
	ServerVersion               string // their version, or what it begins with

	ClientImage string   // of a lock client in containers (client protocol); instead of Client
	ClientArg   []string // its command, instead of the image's own

	Attach, AttachConfig string // a service that others run: host:port,…, and the file that says what lets a client in there
	MaxRate              int    // acquires a second there; default 20

	// Out is the directory for run directories, in which all runs are kept. Default: lockcheck-out beside the test, in which
	// only those are kept that did not pass.
	Out string

	// SkipUnavailable skips the test, with the reason, where something that the run needs is not on this machine (a server's
	// program, an engine, an ability of the kernel). With CI=true in the environment it fails all the same: a pipeline that
	// tests nothing must not be green.
	SkipUnavailable bool
}

// startAndFinish is how long servers take to start, and a run to end and to be judged, beside the time that clients work.
const startAndFinish = 20 * time.Second

// timeFor is an error if a run does not fit into what the test binary's -timeout leaves: go test would end it in the middle,
// with the stacks of all goroutines and without a verdict.
func timeFor(limit, left time.Duration) error {
	if left >= limit+startAndFinish {
		return nil
	}
	return fmt.Errorf("-timeout leaves %v, and the run takes up to %v: a TimeLimit of %v, and %v to start and to finish; use a longer -timeout, or a shorter TimeLimit",
		left.Round(time.Second), limit+startAndFinish, limit, startAndFinish)
}

// Run makes a run, judges it, and fails the test unless it passed. It returns the results, of a run that failed, too; a run
// that came to no verdict ends the test.
func Run(t testing.TB, plan Plan) *rundir.Results {
	t.Helper()
	readPipeline()
	if !dispatched {
		t.Fatal("locktest.Run: TestMain of this package has to call locktest.Main first; see the documentation of package locktest")
	}
	options, err := plan.options(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := at.Deadline(); ok {
			if err := timeFor(options.TimeLimit, time.Until(deadline)); err != nil {
				t.Fatal(err)
			}
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
