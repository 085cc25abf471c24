//go:build e2e

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// jobsRow is a run of jobs whose holder is paused at its work, and what has to come of it: by the time that it goes on another client
// has run the slot.
type jobsRow struct {
	name, backend, provider string
	args                    []string
	double                  checker.Verdict
	judge                   func(*testing.T, outcome)
}

const (
	paused = "--nemesis=pause:holder@work"
	found  = "--until=double-execution" // which ends the load at the first
)

func jobsRows() (rows []jobsRow) {
	for _, backend := range everyBackend {
		row := jobsRow{name: "plain", backend: backend, args: []string{paused, found, "--time-limit=24s"}, double: checker.Violation, judge: sentTwice}
		switch {
		case backend == "consul": // else no other client has the lock for 15 s
			row.args = append(row.args, "--set=lock-delay=0s")
		case !hasLease[backend]:
			row.args, row.double, row.judge = []string{paused, "--time-limit=9s"}, checker.Pass, ranOnce
		}
		rows = append(rows, row)
	}
	return append(rows,
		jobsRow{name: "fenced", backend: "etcd", args: []string{paused, "--resource=fenced", "--time-limit=9s"}, double: checker.Pass, judge: fencedOff},
		jobsRow{name: "compare-and-set", backend: "redis", args: []string{paused, "--resource=cas", "--time-limit=9s"}, double: checker.Pass, judge: fencedOff},
		jobsRow{name: "idempotent", backend: "redis", args: []string{paused, "--execution=idempotent", "--time-limit=9s"}, double: checker.Masked, judge: toldApart},
		jobsRow{name: "idempotent", backend: "etcd", provider: "docker", args: []string{paused, "--execution=idempotent", "--time-limit=9s"}, double: checker.Masked, judge: toldApart},
		jobsRow{name: "calm, marked before the work", backend: "etcd", args: []string{"--nemesis=none", "--execution=at-most-once", "--slot=200ms", "--time-limit=4s"}, double: checker.Pass, judge: ranOnce},
		// A job takes 20 to 120 ms: the schedule is behind from its first slots on, and no slot is missed.
		jobsRow{name: "calm, jobs longer than their slots", backend: "etcd", args: []string{"--nemesis=none", "--slot=50ms", "--time-limit=4s"}, double: checker.Pass, judge: ranOnce},
	)
}

func TestJobs(t *testing.T) {
	t.Parallel()
	for _, row := range jobsRows() {
		provider := "local"
		if row.provider != "" {
			provider = row.provider
		}
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%s/%s/%d", provider, row.backend, row.name, seed), func(t *testing.T) {
				t.Parallel()
				if provider == "docker" {
					needDocker(t)
				}
				o := lockcheck(t, program, slices.Concat([]string{"run", "--backend=" + row.backend, "--provider=" + provider, "--workload=jobs", fmt.Sprintf("--seed=%d", seed)}, row.args)...)
				if p := o.of(t, checker.DoubleExecution); p.Verdict != row.double {
					t.Errorf("double-execution is %s with %d, want %s", p.Verdict, p.Count, row.double)
				}
				if p := o.of(t, checker.MissedExecution); p.Verdict != checker.NotApplicable { // no load is as long as a slot may be late
					t.Errorf("missed-execution is %s: %s", p.Verdict, p.Reason)
				}
				s := o.results.Stats.Jobs
				if s == nil || s.Due < 4 || s.Recorded < 2 || s.Recorded > s.Due {
					t.Fatalf("%+v", s)
				}
				row.judge(t, o)
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}

// sentTwice is the classic: of one incident, with its story, beside its stale write.
func sentTwice(t *testing.T, o outcome) {
	t.Helper()
	if o.code != 1 || o.results.Stats.Jobs.Doubled == 0 {
		t.Errorf("exit %d, %+v", o.code, o.results.Stats.Jobs)
	}
	double, stale := o.of(t, checker.DoubleExecution), o.of(t, checker.StaleWrite)
	if len(double.Findings) == 0 || len(stale.Findings) == 0 {
		t.Fatalf("%d and %d findings", len(double.Findings), len(stale.Findings))
	}
	f := double.Findings[0]
	if f.Incident != stale.Findings[0].Incident {
		t.Errorf("of hold %s, and the stale write of %s", f.Incident, stale.Findings[0].Incident)
	}
	readsLikeTheClassic(t, f)
	if story := storyOf(f); !strings.Contains(story, "has been run a second time") {
		t.Errorf("the story does not say what was run twice:\n%s", story)
	}
}

func ranOnce(t *testing.T, o outcome) {
	t.Helper()
	if s := o.results.Stats.Jobs; o.code != 0 || s.Doubled != 0 || s.Deduplicated != 0 || s.Rejected != 0 {
		t.Errorf("exit %d, violated %v, %+v", o.code, o.violated(), s)
	}
}

// fencedOff wants the second record rejected, whatever it was compared by.
func fencedOff(t *testing.T, o outcome) {
	t.Helper()
	if s := o.results.Stats.Jobs; o.code != 0 || s.Doubled != 0 || s.Rejected == 0 {
		t.Errorf("exit %d, violated %v, %+v", o.code, o.violated(), s)
	}
	if p := o.of(t, checker.MutualExclusion); p.Verdict != checker.Masked {
		t.Errorf("mutual-exclusion is %s, want masked: %s", p.Verdict, p.Reason)
	}
	if fenced := planOf(t, o).Fenced; fenced != (o.results.Resource == history.ResourceFenced) {
		t.Errorf("tokens compared: %v", fenced)
	}
}

// toldApart wants the second record answered as the first.
func toldApart(t *testing.T, o outcome) {
	t.Helper()
	s, p := o.results.Stats.Jobs, o.of(t, checker.DoubleExecution)
	if o.code != 0 || s.Doubled != 0 || s.Deduplicated == 0 || p.Count != s.Deduplicated {
		t.Errorf("exit %d, violated %v, %+v, %d masked", o.code, o.violated(), s, p.Count)
	}
	if p := o.of(t, checker.MutualExclusion); p.Verdict != checker.Masked {
		t.Errorf("mutual-exclusion is %s, want masked: %s", p.Verdict, p.Reason)
	}
}
