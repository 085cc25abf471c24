//go:build e2e

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters/testkit"
	"lockcheck/reports/rundir"
)

// jobsRow is a run of jobs whose holder is paused at its work, and what has to come of it: by the time that it goes on another client
// has run the slot.
type jobsRow struct {
	name, backend, provider string
	args                    []string
	double                  model.Verdict
	judge                   func(*testing.T, outcome)
	shownBy                 string
}

const (
	paused = "--nemesis=pause:holder@work"
	found  = "--until=double-execution" // which ends the load at the first
)

func jobsRows() (rows []jobsRow) {
	for _, backend := range everyBackend {
		row := jobsRow{name: "plain", backend: backend, args: []string{paused, found, atMost}, double: model.Violation, judge: sentTwice}
		switch {
		case backend == "consul": // else no other client has the lock for 15 s
			row.args = append(row.args, "--set=lock-delay=0s")
		case !descriptors[backend].Leased:
			row.args, row.double, row.judge = []string{paused, meetsPauseAlone, "--time-limit=9s"}, model.Pass, ranOnce
		}
		if !slices.Contains([]string{"etcd", "redis", "postgres"}, backend) { // a lease with tokens, one without, and no lease
			row = row.shown("TestJobs: plain, behind etcd, redis and postgres")
		}
		rows = append(rows, row)
	}
	leader := func(backend string) jobsRow { // kubernetes' lock is an election anyway
		return jobsRow{name: "by its leader", backend: backend, args: []string{oneServer, "--client=election", paused, found, atMost}, double: model.Violation, judge: sentTwice}
	}
	return append(rows,
		leader("etcd"), leader("zookeeper").shown("TestJobs: by its leader, behind etcd"),
		jobsRow{name: "led and fenced", backend: "etcd", args: []string{oneServer, "--client=election", paused, "--resource=fenced", meetsPauseAlone, "--time-limit=9s"}, double: model.Pass, judge: fencedOff}.shown("TestJobs: fenced, by its leader"),
		jobsRow{name: "fenced", backend: "etcd", args: []string{oneServer, paused, "--resource=fenced", meetsPauseAlone, "--time-limit=9s"}, double: model.Pass, judge: fencedOff},
		jobsRow{name: "compare-and-set", backend: "redis", args: []string{oneServer, paused, "--resource=cas", meetsPauseAlone, "--time-limit=9s"}, double: model.Pass, judge: fencedOff},
		jobsRow{name: "idempotent", backend: "redis", args: []string{oneServer, paused, "--execution=idempotent", meetsPauseAlone, "--time-limit=9s"}, double: model.Masked, judge: toldApart},
		jobsRow{name: "idempotent", backend: "etcd", provider: "docker", args: []string{oneServer, paused, "--execution=idempotent", meetsPauseAlone, "--time-limit=9s"}, double: model.Masked, judge: toldApart}.
			shown("TestJobs: idempotent, behind redis"),
		// Without tokens the resource has nothing else to tell the second record by.
		jobsRow{name: "idempotent, under test", backend: "redis", args: []string{oneServer, paused, "--execution=idempotent", "--resource=postgres", meetsPauseAlone, "--time-limit=9s"}, double: model.Masked, judge: toldApartUnderTest},
		jobsRow{name: "marked before the work", backend: "etcd", args: []string{oneServer, paused, "--execution=at-most-once", found, atMost}, double: model.Violation, judge: sentTwice},
		jobsRow{name: "marked, and killed at work", backend: "etcd", args: []string{oneServer, "--nemesis=kill:holder@work", "--execution=at-most-once", untilExposed, atMost}, double: model.Pass, judge: ranOnce},
		jobsRow{name: "calm, marked before the work", backend: "etcd", args: []string{oneServer, "--nemesis=none", "--execution=at-most-once", "--slot=200ms", "--time-limit=4s"}, double: model.Pass, judge: ranOnce},
		// A job takes 20 to 120 ms: the schedule is behind from its first slots on, and no slot is missed.
		jobsRow{name: "calm, jobs longer than their slots", backend: "etcd", args: []string{oneServer, "--nemesis=none", "--slot=50ms", "--time-limit=4s"}, double: model.Pass, judge: ranOnce},
	)
}

// shown leaves the row to the soak.
func (row jobsRow) shown(by string) jobsRow {
	row.shownBy = by
	return row
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
				leftTo(t, row.shownBy)
				if provider == "docker" {
					needDocker(t)
				}
				o := lockcheck(t, program, slices.Concat([]string{"run", "--backend=" + row.backend, "--provider=" + provider, "--workload=jobs", fmt.Sprintf("--seed=%d", seed)}, row.args)...)
				if p := o.of(t, model.DoubleExecution); p.Verdict != row.double {
					t.Errorf("double-execution is %s with %d, want %s", p.Verdict, p.Count, row.double)
				}
				// No load is as long as a slot may be late, but one that a busy machine makes long.
				if p := o.of(t, model.MissedExecution); p.Verdict != model.NotApplicable && (p.Verdict != model.Pass || !slices.Contains(row.args, atMost)) {
					t.Errorf("missed-execution is %s: %s", p.Verdict, p.Reason)
				}
				s := o.results.Stats.Jobs
				due, asked := dueInTheLoad(t, o), int64(4)
				if slices.Contains(row.args, atMost) { // it ends as soon as it can
					asked = 1
				}
				if s == nil || s.Due < max(due, asked) || s.Recorded < 2 {
					t.Fatalf("%+v, and %d slots were due in the load", s, due)
				}
				noneBeforeItsTime(t, o)
				row.judge(t, o)
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}

// dueInTheLoad is how many slots of each lock's schedule fell due before the load ended.
func dueInTheLoad(t *testing.T, o outcome) int64 {
	t.Helper()
	began := map[string]int64{} // by phase
	for e, err := range history.Events(strings.NewReader(historyOf(t, o)), rundir.HistoryFile) {
		if err != nil {
			t.Fatal(err)
		}
		if e.F == history.Phase {
			began[e.Value] = e.TimeNS
		}
	}
	plan := planOf(t, o)
	due := plan.SlotsDue(began[history.PhaseLoad], began[history.PhaseHeal])
	if due < 1 {
		t.Errorf("no slot was due in the load, which went from %s to %s", history.Moment(began[history.PhaseLoad]), history.Moment(began[history.PhaseHeal]))
	}
	return due
}

// noneBeforeItsTime wants no slot recorded that was not due.
func noneBeforeItsTime(t *testing.T, o outcome) {
	t.Helper()
	plan, load := planOf(t, o), int64(0)
	for e, err := range history.Events(strings.NewReader(historyOf(t, o)), rundir.HistoryFile) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.F == history.Phase && e.Value == history.PhaseLoad:
			load = e.TimeNS
		case e.F == history.Write && e.Type == history.Invoke:
			if slot, ok := history.RecordedSlot(e.Value); !ok || load == 0 || e.TimeNS < plan.DueNS(load, slot) {
				t.Errorf("at %s %s was asked to record %q of %s; the load began at %s", history.Moment(e.TimeNS), e.Process, e.Value, e.Key, history.Moment(load))
			}
		}
	}
}

// Every resource has the slots of a schedule recorded, and what it compares keeps the second record of a slot out. One under test is found to
// keep its word, too.
func TestJobsOnEveryResource(t *testing.T) {
	t.Parallel()
	for _, name := range append(history.ResourceNames(), "the example of clusters/resource") {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				if slices.Contains(history.OwnResourceNames(), name) {
					left(t, "TestJobs: plain, fenced, compare-and-set")
				}
				args := []string{"run", "--backend=etcd", oneServer, "--provider=local", "--workload=jobs", paused, fmt.Sprintf("--seed=%d", seed)}
				kind, known := history.ResourceNamed(history.Resource(name))
				switch {
				case !known:
					args = append(args, storage(t, ""), meetsPauseAlone, "--time-limit=9s")
				case kind.Compares == history.CompareNothing:
					args = append(args, "--resource="+name, found, atMost)
				default:
					args = append(args, "--resource="+name, meetsPauseAlone, "--time-limit=9s")
				}
				o := lockcheck(t, program, args...)
				if known && kind.Compares == history.CompareNothing {
					sentTwice(t, o)
				} else {
					mustPass(t, o, model.DoubleExecution)
					fencedOff(t, o)
				}
				if !known || kind.UnderTest {
					mustPass(t, o, model.ResourceIntegrity)
				}
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
	double, stale := o.of(t, model.DoubleExecution), o.of(t, model.StaleWrite)
	if len(double.Findings) == 0 || len(stale.Findings) == 0 {
		t.Fatalf("%d and %d findings", len(double.Findings), len(stale.Findings))
	}
	f := double.Findings[0]
	if f.Incident != stale.Findings[0].Incident {
		t.Errorf("of hold %s, and the stale write of %s", f.Incident, stale.Findings[0].Incident)
	}
	readsLikeTheClassic(t, f)
	execution, _ := history.ExecutionNamed(planOf(t, o).Execution)
	if story := storyOf(f); !strings.Contains(story, execution.Again) {
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
	if p := o.of(t, model.MutualExclusion); p.Verdict != model.Masked {
		t.Errorf("mutual-exclusion is %s, want masked: %s", p.Verdict, p.Reason)
	}
	plan := planOf(t, o)
	if plan.Fenced != (plan.ResourceKind().Compares == history.CompareTokens) {
		t.Errorf("tokens compared: %v", plan.Fenced)
	}
}

// toldApart wants the second record answered as the first.
func toldApart(t *testing.T, o outcome) {
	t.Helper()
	s, p := o.results.Stats.Jobs, o.of(t, model.DoubleExecution)
	if o.code != 0 || s.Doubled != 0 || s.Deduplicated == 0 || p.Count != s.Deduplicated {
		t.Errorf("exit %d, violated %v, %+v, %d masked", o.code, o.violated(), s, p.Count)
	}
	if p := o.of(t, model.MutualExclusion); p.Verdict != model.Masked {
		t.Errorf("mutual-exclusion is %s, want masked: %s", p.Verdict, p.Reason)
	}
}

// toldApartUnderTest wants the resource to have kept its word, too.
func toldApartUnderTest(t *testing.T, o outcome) {
	t.Helper()
	toldApart(t, o)
	mustPass(t, o, model.ResourceIntegrity)
	if p := planOf(t, o); p.UnderTest == nil || !p.UnderTest.IdempotencyKeys || p.Compares() != history.CompareKeys {
		t.Errorf("the plan has %+v, compared were %v", p.UnderTest, p.Compares())
	}
}

// At a service that others run the double execution is found, or masked, as anywhere; that a slot was missed cannot be told, because a stall
// of the servers would not be seen.
func TestJobsAtAServiceThatOthersRun(t *testing.T) {
	t.Parallel()
	member := startEtcd(t, testkit.OwnAddress(t), "")
	for _, row := range []jobsRow{
		{name: "plain", args: []string{found, atMost}, double: model.Violation, judge: sentTwice},
		jobsRow{name: "idempotent", args: []string{"--execution=idempotent", meetsPauseAlone, "--time-limit=9s"}, double: model.Masked, judge: toldApart}.
			shown("TestJobs: idempotent, behind redis"),
		{name: "by its leader, for longer than a slot may be late", args: []string{"--client=election", "--nemesis=none", "--slot=1s", "--time-limit=32s"}, double: model.Pass, judge: ranOnce},
	} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", row.name, seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, row.shownBy)
				args := []string{"run", "--backend=etcd", "--attach=" + member.endpoint, "--workload=jobs", paused, fmt.Sprintf("--seed=%d", seed)}
				o := lockcheck(t, program, append(args, row.args...)...)
				if p := o.of(t, model.DoubleExecution); p.Verdict != row.double {
					t.Errorf("double-execution is %s with %d, want %s", p.Verdict, p.Count, row.double)
				}
				if p := o.of(t, model.MissedExecution); p.Verdict != model.NotApplicable || !strings.Contains(p.Reason, "others run the servers") {
					t.Errorf("missed-execution is %s: %s", p.Verdict, p.Reason)
				}
				row.judge(t, o)
				nothingRemembered(t, o)
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}
