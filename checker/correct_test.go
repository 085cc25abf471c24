package checker

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
)

// histories is how many histories a randomised test looks at: LOCKCHECK_HISTORIES, or else a tenth of the whole, and a hundredth
// under the race detector, which makes everything ten times slower and looks for other things. scripts/soak looks at more than the whole.
func histories(t testing.TB, whole int) int {
	t.Helper()
	if text := os.Getenv("LOCKCHECK_HISTORIES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("LOCKCHECK_HISTORIES is %q; a number of histories is needed", text)
		}
		return n
	}
	return max(whole/oneIn, 1)
}

// inParallel does something for each seed, on all processors, until one fails. It reports the pace.
func inParallel(t *testing.T, n int, do func(seed uint64) error) {
	t.Helper()
	began := time.Now()
	var next, done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := next.Add(1); seed <= int64(n) && failed.Load() == nil; seed = next.Add(1) {
				if err := do(uint64(seed)); err != nil {
					err = fmt.Errorf("seed %d: %w", seed, err)
					failed.CompareAndSwap(nil, &err)
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	t.Logf("%d histories, %.0f a second", n, float64(n)/time.Since(began).Seconds())
}

// blameless are the properties that no pause, crash, delay or slow harness may ever make a correct lock violate.
var blameless = []Name{LockLinearizability, EarlyExpiry, ReleaseByOwner, TokenMonotonicity, Liveness}

// harmless are those that hold, too, where tokens are compared by the resource.
var harmless = []Name{StaleWrite, LostUpdate, ResourceLinearizability}

// anyWorld draws a world without a defect.
func anyWorld(seed uint64) simulated.Options {
	r := rand.New(rand.NewPCG(seed, 1))
	o := simulated.Options{Seed: seed, Service: simulated.Service(r.IntN(2)), Tokens: r.IntN(3) > 0, Guard: simulated.Guard(r.IntN(3)),
		Clients: 2 + r.IntN(4), Keys: 1 + r.IntN(2), LoadNS: 3e9 + r.Int64N(7e9), Faults: simulated.All}
	o.Fenced = o.Tokens && r.IntN(2) == 0
	if r.IntN(2) == 0 {
		some := func() bool { return r.IntN(2) == 0 }
		o.Faults = simulated.Faults{Pause: some(), Cut: some(), Kill: some(), Stall: some(), Slow: some(), Cancel: some(), GiveUp: some(), Clock: some()}
	}
	if o.CAS = !o.Fenced && r.IntN(3) == 0; o.CAS {
		o.OneWrite = r.IntN(2) == 0
	}
	return o
}

// tally counts what a set of worlds went through, so that a test can tell that it saw something.
type tally struct {
	sync.Mutex
	n map[string]int64
}

func (c *tally) add(name string, n int64) {
	c.Lock()
	defer c.Unlock()
	if c.n == nil {
		c.n = map[string]int64{}
	}
	c.n[name] += n
}

// No pause, crash, expiry, late reply, delayed or repeated packet, and no slow or frozen harness may make the checker
// accuse a lock service that is right; and what it says of belief and of the data is what happened.
func TestCorrectLocksAreNotAccused(t *testing.T) {
	var seen tally
	n := histories(t, 600)
	inParallel(t, n, func(seed uint64) error { return judgeWorld(t, anyWorld(seed), &seen) })
	for _, name := range []string{"overlaps", "stale writes", "lost updates", "rejected", "masked by compare-and-set", "protected", "proven", "voided", "info", "busy", "lost", "cancelled", "duplicate", "stalls", "clock steps", "ended by a clock step", "old waiters"} {
		t.Logf("%s: %d", name, seen.n[name])
		if seen.n[name] == 0 && n >= 200 {
			t.Errorf("no %s in %d worlds: they were too tame to prove anything", name, n)
		}
	}
}

func judgeWorld(t *testing.T, o simulated.Options, seen *tally) error {
	run := simulated.Simulate(o)
	rec := recordingOf(t, run.Plan, func() ([]history.Event, []history.Request) { return run.Events, run.Requests })
	result, model, err := Check(rec, Options{MaxFindings: 1 << 30})
	if err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	innocent := slices.Clone(blameless)
	switch {
	case o.Fenced:
		innocent = append(innocent, harmless...)
	case o.CAS && o.OneWrite: // of several writes some may be read before the last
		innocent = append(innocent, LostUpdate, ResourceLinearizability)
	case o.CAS:
		innocent = append(innocent, LostUpdate)
	}
	for _, name := range innocent {
		if p := result.of(name); p.Count > 0 {
			return fmt.Errorf("%+v: %s: %s\n%s", o, name, p.Findings[0].Summary, storyText(p.Findings[0]))
		}
	}
	if p := result.of(Liveness); p.Verdict != Pass {
		return fmt.Errorf("%+v: liveness is %s: %s", o, p.Verdict, p.Reason)
	}
	if p := result.of(LockLinearizability); p.Verdict != Pass || p.ConfirmedBy == "" {
		return fmt.Errorf("%+v: lock-linearizability is %s, %s", o, p.Verdict, p.Reason)
	}
	if err := boundsAreTrue(model, &run.Truth, seen); err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	if err := effectsAreTrue(o, run, result, model, seen); err != nil {
		return fmt.Errorf("%+v: %w", o, err)
	}
	for _, e := range run.Events {
		switch {
		case e.F == history.Stall:
			seen.add("stalls", 1)
		case e.F == history.ClockStep:
			seen.add("clock steps", 1)
		case e.F == history.Lost:
			seen.add("lost", 1)
		case e.Code == history.CodeBusy || e.Code == history.CodeCancelled:
			seen.add(e.Code, 1)
		}
	}
	at, _ := model.phase(history.PhaseWaiting)
	for _, k := range model.keys {
		old, _ := k.waitersAt(at)
		seen.add("old waiters", int64(len(old)))
	}
	if o.CAS && result.of(StaleWrite).Verdict != NotApplicable {
		return fmt.Errorf("%+v: stale-write is %s", o, result.of(StaleWrite).Verdict)
	}
	if o.CAS && result.of(MutualExclusion).Verdict == Masked {
		seen.add("masked by compare-and-set", 1)
	}
	seen.add("info", result.Stats.Info)
	seen.add("rejected", result.Stats.Rejected)
	return nil
}

func storyText(f Finding) (text string) {
	for _, l := range f.Story {
		text += fmt.Sprintf("  %s %s\n", history.Moment(l.TimeNS), l.Text)
	}
	return text
}

// boundsAreTrue holds every bound that the checker takes from a recording (R3 to R6) against what happened.
func boundsAreTrue(m *Model, truth *simulated.Truth, seen *tally) error {
	unset := Model{Plan: m.Plan, Stalls: m.Stalls} // as if the wall clock had not been set
	for _, h := range m.Holds {
		if h.Outcome != history.OK {
			continue
		}
		is := truth.Holds[h.ID]
		if is == nil || is.GrantedNS == 0 || is.GrantedNS < h.startNS() || is.GrantedNS > h.DoneNS {
			return fmt.Errorf("%s was granted from %d to %d by its recording, and truly %+v", h.ID, h.startNS(), h.DoneNS, is)
		}
		end := is.EndedNS
		if end == 0 {
			end = never
		}
		switch {
		case h.BelievedNS != 0 && (h.DoneNS < is.BelievesFromNS || h.BelievedNS > is.BelievesUntilNS):
			return fmt.Errorf("%s is recorded as believed in from %d to %d, and truly %+v", h.ID, h.DoneNS, h.BelievedNS, is)
		case h.LeaseNS > end:
			return fmt.Errorf("%s is taken for protected until %d, and truly %+v", h.ID, h.LeaseNS, is)
		case h.ProvenNS > end:
			return fmt.Errorf("%s is taken for proven until %d, and truly %+v", h.ID, h.ProvenNS, is)
		case h.EndedNS != 0 && h.EndedNS < end && end != never:
			return fmt.Errorf("%s is taken for gone by %d, and truly %+v", h.ID, h.EndedNS, is)
		}
		if slices.ContainsFunc(h.Leases(), func(l Lease) bool { return min(unset.leaseUntil(l), m.protectionStop(h, nil), lossStop(h)) > end }) {
			seen.add("ended by a clock step", 1)
		}
		for what, is := range map[string]bool{"protected": h.LeaseNS != 0, "proven": h.ProvenNS != 0, "voided": h.Voided} {
			if is {
				seen.add(what, 1)
			}
		}
	}
	return nil
}

// effectsAreTrue compares what is found with what happened: belief overlaps are true ones, and all that were recorded; lost
// updates are exactly those that were lost and had been acknowledged; stale writes are exactly those that were stale where
// tokens tell the order of all grants, and elsewhere true ones, and all that the recorded bounds prove.
func effectsAreTrue(o simulated.Options, run *simulated.Run, result *Result, model *Model, seen *tally) error {
	j, asRecorded := newJudge(model, Options{}), newOracle(run.Plan, run.Events, run.Requests)
	overlaps := map[string]bool{}
	for _, f := range result.of(MutualExclusion).Findings {
		overlaps[pairName(f.Holds[0], f.Holds[1])] = true
		a, b := run.Truth.Holds[f.Holds[0]], run.Truth.Holds[f.Holds[1]]
		if max(a.BelievesFromNS, b.BelievesFromNS) >= min(a.BelievesUntilNS, b.BelievesUntilNS) {
			return fmt.Errorf("%s never were: %+v, %+v", f.Summary, a, b)
		}
		seen.add("overlaps", 1)
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
	for _, w := range j.stale() {
		stale[w.write.Seq()] = true
		older, newer := run.Truth.Holds[w.hold.ID], run.Truth.Holds[w.newer.ID]
		switch {
		case w.why == staleEither && !run.Truth.Stale[w.write.Seq()] && !run.Truth.Stale[w.prior.Seq()]:
			return fmt.Errorf("neither %+v nor %+v was stale", w.write, w.prior)
		case w.why != staleEither && (!run.Truth.Stale[w.write.Seq()] || older.Order > newer.Order):
			return fmt.Errorf("%+v was not stale, of %+v and %+v", w.write, older, newer)
		}
	}
	seen.add("stale writes", int64(len(stale)))
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
			seen.add("duplicate", 1)
		}
	}
	lost := map[string]bool{}
	for _, f := range result.of(LostUpdate).Findings {
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
	seen.add("lost updates", result.of(LostUpdate).Count)
	return nil
}
