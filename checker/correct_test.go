package checker

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
	"lockcheck/checker/testkit"
)

// blameless are the properties that no pause, crash, delay or slow harness may ever make a correct lock violate.
var blameless = []model.Name{model.LockLinearizability, model.EarlyExpiry, model.ReleaseByOwner, model.TokenMonotonicity, model.Liveness}

// harmless are those that hold, too, where tokens are compared by the resource.
var harmless = []model.Name{model.StaleWrite, model.LostUpdate, model.ResourceLinearizability}

// No pause, crash, expiry, late reply, delayed or repeated packet, and no slow or frozen harness may make the checker
// accuse a lock service that is right; and what it says of belief and of the data is what happened.
func TestCorrectLocksAreNotAccused(t *testing.T) {
	var seen testkit.Tally
	n := testkit.Histories(t, 600)
	testkit.InParallel(t, n, func(seed uint64) error { return judgeWorld(t, testkit.AnyWorld(seed), &seen) })
	for _, name := range []string{"overlaps", "stale writes", "lost updates", "rejected", "masked by compare-and-set", "protected", "proven", "voided", "info", "busy", "lost", "cancelled", "duplicate", "stalls", "clock steps", "ended by a clock step", "old waiters"} {
		t.Logf("%s: %d", name, seen.N[name])
		if seen.N[name] == 0 && n >= 200 {
			t.Errorf("no %s in %d worlds: they were too tame to prove anything", name, n)
		}
	}
}

func judgeWorld(t *testing.T, o simulated.Options, seen *testkit.Tally) error {
	run := simulated.Simulate(o)
	rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests })
	result, judged, err := Check(rec, Options{MaxFindings: 1 << 30})
	if err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	innocent := slices.Clone(blameless)
	switch {
	case o.Fenced:
		innocent = append(innocent, harmless...)
	case o.CAS && o.OneWrite: // of several writes some may be read before the last
		innocent = append(innocent, model.LostUpdate, model.ResourceLinearizability)
	case o.CAS:
		innocent = append(innocent, model.LostUpdate)
	}
	for _, name := range innocent {
		if p := propertyOf(result, name); p.Count > 0 {
			return fmt.Errorf("%+v: %s: %s\n%s", o, name, p.Findings[0].Summary, storyText(p.Findings[0]))
		}
	}
	if p := propertyOf(result, model.Liveness); p.Verdict != model.Pass {
		return fmt.Errorf("%+v: liveness is %s: %s", o, p.Verdict, p.Reason)
	}
	if p := propertyOf(result, model.LockLinearizability); p.Verdict != model.Pass || p.ConfirmedBy == "" {
		return fmt.Errorf("%+v: lock-linearizability is %s, %s", o, p.Verdict, p.Reason)
	}
	if err := boundsAreTrue(judged, &run.Truth, seen); err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	if err := effectsAreTrue(o, run, result, judged, seen); err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	for _, e := range run.Events {
		switch {
		case e.F == history.Stall:
			seen.Add("stalls", 1)
		case e.F == history.ClockStep:
			seen.Add("clock steps", 1)
		case e.F == history.Lost:
			seen.Add("lost", 1)
		case e.Code == history.CodeBusy || e.Code == history.CodeCancelled:
			seen.Add(e.Code, 1)
		}
	}
	at, _ := judged.Phase(history.PhaseWaiting)
	for _, k := range judged.Locks {
		old, _ := k.WaitersAt(at)
		seen.Add("old waiters", int64(len(old)))
	}
	if o.CAS && propertyOf(result, model.StaleWrite).Verdict != model.NotApplicable {
		return fmt.Errorf("%+v: stale-write is %s", o, propertyOf(result, model.StaleWrite).Verdict)
	}
	if o.CAS && propertyOf(result, model.MutualExclusion).Verdict == model.Masked {
		seen.Add("masked by compare-and-set", 1)
	}
	seen.Add("info", result.Stats.Info)
	seen.Add("rejected", result.Stats.Rejected)
	return nil
}

func storyText(f model.Finding) (text string) {
	for _, l := range f.Story {
		text += fmt.Sprintf("  %s %s\n", history.Moment(l.TimeNS), l.Text)
	}
	return text
}

// boundsAreTrue holds every bound that the checker takes from a recording (R3 to R6) against what happened.
func boundsAreTrue(m *model.Model, truth *simulated.Truth, seen *testkit.Tally) error {
	unset := model.Model{Plan: m.Plan, Stalls: m.Stalls} // as if the wall clock had not been set
	for _, h := range m.Holds {
		if h.Outcome != history.OK {
			continue
		}
		is := truth.Holds[h.ID]
		if is == nil || is.GrantedNS == 0 || is.GrantedNS < h.StartNS() || is.GrantedNS > h.DoneNS {
			return fmt.Errorf("%s was granted from %d to %d by its recording, and truly %+v", h.ID, h.StartNS(), h.DoneNS, is)
		}
		end := is.EndedNS
		if end == 0 {
			end = model.Never
		}
		switch {
		case h.BelievedNS != 0 && (h.DoneNS < is.BelievesFromNS || h.BelievedNS > is.BelievesUntilNS):
			return fmt.Errorf("%s is recorded as believed in from %d to %d, and truly %+v", h.ID, h.DoneNS, h.BelievedNS, is)
		case h.LeaseNS > end:
			return fmt.Errorf("%s is taken for protected until %d, and truly %+v", h.ID, h.LeaseNS, is)
		case h.ProvenNS > end:
			return fmt.Errorf("%s is taken for proven until %d, and truly %+v", h.ID, h.ProvenNS, is)
		case h.EndedNS != 0 && h.EndedNS < end && end != model.Never:
			return fmt.Errorf("%s is taken for gone by %d, and truly %+v", h.ID, h.EndedNS, is)
		}
		if slices.ContainsFunc(h.Leases(), func(l model.Lease) bool {
			return min(unset.LeaseUntil(l), m.ProtectionStop(h, nil), model.LossStop(h)) > end
		}) {
			seen.Add("ended by a clock step", 1)
		}
		for what, is := range map[string]bool{"protected": h.LeaseNS != 0, "proven": h.ProvenNS != 0, "voided": h.Voided} {
			if is {
				seen.Add(what, 1)
			}
		}
	}
	return nil
}

// effectsAreTrue compares what is found with what happened: belief overlaps are true ones, and all that were recorded; lost
// updates are exactly those that were lost and had been acknowledged; stale writes are exactly those that were stale where
// tokens tell the order of all grants, and elsewhere true ones, and all that the recorded bounds prove.
func effectsAreTrue(o simulated.Options, run *simulated.Run, result *model.Result, judged *model.Model, seen *testkit.Tally) error {
	j, asRecorded := newJudgement(judged, Options{}, nil), newOracle(run.Plan, run.Events, run.Requests)
	overlaps := map[string]bool{}
	for _, f := range propertyOf(result, model.MutualExclusion).Findings {
		overlaps[pairName(f.Holds[0], f.Holds[1])] = true
		a, b := run.Truth.Holds[f.Holds[0]], run.Truth.Holds[f.Holds[1]]
		if max(a.BelievesFromNS, b.BelievesFromNS) >= min(a.BelievesUntilNS, b.BelievesUntilNS) {
			return fmt.Errorf("%s never were: %+v, %+v", f.Summary, a, b)
		}
		seen.Add("overlaps", 1)
	}
	if want := asRecorded.mutualExclusion(); !maps.Equal(overlaps, want) {
		return fmt.Errorf("overlaps %v are found, %v are recorded", overlaps, want)
	}
	if o.Seed%20 == 0 && !o.CAS { // the oracle is slow on whole runs
		if _, err := staleAgrees(asRecorded, j); err != nil {
			return err
		}
	}
	stale := map[int64]bool{}
	for _, w := range j.LateWrites() {
		stale[w.Write.Seq()] = true
		older, newer := run.Truth.Holds[w.Hold.ID], run.Truth.Holds[w.Newer.ID]
		switch {
		case w.Why == property.EitherLate && !run.Truth.Stale[w.Write.Seq()] && !run.Truth.Stale[w.Prior.Seq()]:
			return fmt.Errorf("neither %+v nor %+v was stale", w.Write, w.Prior)
		case w.Why != property.EitherLate && (!run.Truth.Stale[w.Write.Seq()] || older.Order > newer.Order):
			return fmt.Errorf("%+v was not stale, of %+v and %+v", w.Write, older, newer)
		}
	}
	seen.Add("stale writes", int64(len(stale)))
	if o.Tokens && !o.CAS && len(stale) != len(run.Truth.Stale) {
		return fmt.Errorf("%d stale writes found, %d there were: %v, %v", len(stale), len(run.Truth.Stale), stale, run.Truth.Stale)
	}
	acknowledged := map[string]bool{}
	written := map[int64]string{}
	for _, e := range run.Events {
		switch {
		case e.F == history.Write && e.Type == history.Invoke:
			written[e.Op] = e.Value
		case e.F == history.Write && e.Type == history.OK:
			acknowledged[written[e.Op]] = true
		}
	}
	for _, q := range run.Requests {
		if q.Outcome == history.Duplicate {
			seen.Add("duplicate", 1)
		}
	}
	lost := map[string]bool{}
	for _, f := range propertyOf(result, model.LostUpdate).Findings {
		var value string
		if _, err := fmt.Sscanf(f.Summary, "the update %s of", &value); err != nil {
			return fmt.Errorf("%q does not say which update: %w", f.Summary, err)
		}
		lost[value] = true
	}
	for v := range run.Truth.Lost {
		if acknowledged[v] != lost[v] {
			return fmt.Errorf("the update %s was lost, acknowledged: %v, found: %v", v, acknowledged[v], lost[v])
		}
		delete(lost, v)
	}
	if len(lost) > 0 {
		return fmt.Errorf("never lost: %v", lost)
	}
	seen.Add("lost updates", propertyOf(result, model.LostUpdate).Count)
	return nil
}
