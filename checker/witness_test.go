package checker

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/longrun"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// again is a recording that can be read as often as one likes.
func again(plan history.Plan, events []history.Event, requests []history.Request) model.Recording {
	w := explain.Witness{Plan: plan, Events: events, Requests: requests}
	return w.Recording()
}

// throughFiles writes a witness to files in memory and reads it back.
func throughFiles(t *testing.T, w *explain.Witness) model.Recording {
	t.Helper()
	rec := recordingOf(t, w.Plan, func() ([]history.Event, []history.Request) { return w.Events, w.Requests })
	var plan bytes.Buffer
	if err := history.WritePlan(&plan, w.Plan); err != nil {
		t.Fatal(err)
	}
	var err error
	if rec.Plan, err = history.ReadPlan(&plan, "plan.json"); err != nil {
		t.Fatal(err)
	}
	return rec
}

// witnessed judges a recording, and each of its witnesses, which have to come to what they are made for. It returns how
// many lines they have at most, by property.
func witnessed(t *testing.T, rec model.Recording, maxLines int) map[model.Name]int {
	t.Helper()
	result, judged, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	witnesses, err := Witnesses(rec, result, judged, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[model.Name]int{}
	n := 0
	for _, p := range result.Properties {
		if p.Verdict != model.Violation {
			continue
		}
		for _, f := range p.Findings[:min(len(p.Findings), explain.MaxWitnesses)] {
			w := &witnesses[n]
			n++
			if w.Finding != f.ID {
				t.Fatalf("witness %d is of %s, want %s", n-1, w.Finding, f.ID)
			}
			if w.Missing != "" && p.Name == model.ResourceIntegrity {
				continue // only the whole log shows it, and Missing says so
			}
			if w.Missing != "" {
				t.Errorf("%s: no witness: %s; %s", f.ID, w.Missing, f.Summary)
				continue
			}
			got, _, err := Check(throughFiles(t, w), Options{})
			if err != nil {
				t.Fatalf("%s: %v", f.ID, err)
			}
			if got.Verdict != model.Violation || len(got.Properties) != 1 || propertyOf(got, p.Name).Verdict != model.Violation {
				t.Errorf("%s: its witness comes to %s, %s", f.ID, got.Verdict, namesViolated(got))
			}
			if size := len(w.Events) + len(w.Requests); size > maxLines {
				t.Errorf("%s: its witness has %d lines, more than %d", f.ID, size, maxLines)
			} else {
				lines[p.Name] = max(lines[p.Name], size)
			}
		}
	}
	if n != len(witnesses) {
		t.Errorf("%d witnesses of %d findings", len(witnesses), n)
	}
	return lines
}

// Each defect of a simulated lock is witnessed, property by property, by a few lines of its run.
func TestMutantsHaveWitnesses(t *testing.T) {
	const few = 40 // lines
	var mutex sync.Mutex
	seen := map[model.Name]int{}
	t.Run("each", func(t *testing.T) {
		for _, m := range mutants {
			if len(m.want) == 0 || m.want[0] == defective {
				continue
			}
			t.Run(fmt.Sprintf("%s, service %d, fenced %v", m.defect, m.world.Service, m.world.Fenced), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(min(testkit.Histories(t, 8), 200)) {
					o := m.world
					o.Seed, o.Defect = seed, m.defect
					run := simulated.Simulate(o)
					lines := witnessed(t, again(run.Plan, run.Events, run.Requests), few)
					mutex.Lock()
					for name, n := range lines {
						seen[name] = max(seen[name], n)
					}
					mutex.Unlock()
				}
			})
		}
	})
	t.Logf("lines at most: %v", seen)
	for _, name := range Names() {
		if seen[name] == 0 && name != model.ResourceIntegrity {
			t.Errorf("%s was never witnessed", name)
		}
	}
}

// witnessesOf judges a script and makes its witnesses.
func witnessesOf(t *testing.T, plan history.Plan, text string) []explain.Witness {
	t.Helper()
	events, requests := parse(t, text)
	rec := again(plan, events, requests)
	result, model, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	witnesses, err := Witnesses(rec, result, model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return witnesses
}

// outline is what a witness consists of.
func outlineOf(w *explain.Witness) string {
	var lines []string
	for _, e := range w.Events {
		lines = append(lines, fmt.Sprintf("%s %s:%s %s", e.Process, e.F, e.Type, cmp.Or(e.Hold, e.Session, e.Target, e.Value)))
	}
	for _, q := range w.Requests {
		lines = append(lines, fmt.Sprintf("@ %s %s", q.Kind, q.Hold))
	}
	return strings.Join(lines, "\n")
}

// The smallest that can be, line by line: two holds, the fault that is the cause, and the lease that it outlived; for a
// stale write that write and one request of who superseded its holder.
func TestTheClassicIsWitnessed(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	got := map[string]string{}
	for _, w := range witnessesOf(t, plainPlan(), text) {
		got[w.Finding] = outlineOf(&w)
	}
	const pause = `
nemesis pause:invoke c2
nemesis pause:ok c2`
	for finding, want := range map[string]string{
		"mutual-exclusion-1": `c2 acquire:invoke h1
c2 renew:ok s2
c2 acquire:ok h1` + pause + `
c4 acquire:invoke h2
c4 acquire:ok h2` + pause + `
c2 lost:info h1
c4 release:invoke h2
c4 release:ok h2
harness phase:info end`,
		"stale-write-1": `c2 acquire:invoke h1
c2 renew:ok s2
c2 acquire:ok h1
c2 write:invoke h1` + pause + `
c4 acquire:invoke h2
c4 acquire:ok h2
c4 read:invoke h2
c4 read:ok h2` + pause + `
c2 write:ok h1
harness phase:info end
@ read h2
@ write h1`,
	} {
		if got[finding] != want {
			t.Errorf("%s:\n%s\nwant:\n%s", finding, got[finding], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("witnesses of %v", slices.Sorted(maps.Keys(got)))
	}
}

// Overlaps that count although the resource is fenced, because something stale got through: the excerpt does not have that,
// and must not mask them.
func TestAnExcerptMasksNothing(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	witnesses := witnessesOf(t, fencedPlan(), text)
	if len(witnesses) == 0 || witnesses[0].Finding != "mutual-exclusion-1" || witnesses[0].Missing != "" {
		t.Fatalf("%+v", witnesses)
	}
	for _, w := range witnesses {
		if result, _, err := Check(throughFiles(t, &w), Options{}); err != nil || result.Verdict != model.Violation {
			t.Errorf("%s: %+v, %v", w.Finding, result, err)
		}
	}
	text = strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1)
	if got := witnessesOf(t, fencedPlan(), text); len(got) != 0 {
		t.Errorf("what is masked does no harm, and was witnessed: %+v", got)
	}
}

// An excerpt can show what it was made for and nothing else, least of all that all is well.
func TestAnExcerptNeverPasses(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	w := witnessesOf(t, plainPlan(), text)[1]
	w.Events = append(w.Events[:0:0], w.Events[len(w.Events)-1])
	w.Events[0].Index, w.Requests = 0, nil
	result, _, err := Check(w.Recording(), Options{})
	if err != nil || result.Verdict != model.Inconclusive {
		t.Errorf("%+v, %v", result, err)
	}
	if _, _, err := Check(w.Recording(), Options{Properties: []model.Name{model.Liveness}}); !errors.Is(err, ErrExcerpt) {
		t.Errorf("another property: %v", err)
	}
	w.Plan.Excerpt.Property = "beauty"
	if _, _, err := Check(w.Recording(), Options{}); !errors.Is(err, ErrExcerpt) || !errors.Is(err, ErrUnknownProperty) {
		t.Errorf("unknown property: %v", err)
	}
}

// Two updates built on a value that was written long before: the excerpt begins with it.
func TestAnExcerptBeginsWithWhatItsRegisterHeld(t *testing.T) {
	var text strings.Builder
	base := ""
	for i := range 20 {
		at, value := float64(i), fmt.Sprint("v", i)
		fmt.Fprintf(&text, `%[1]f a acquire h%[2]d
			%[1]f a acquire:ok h%[2]d token=%[2]d
			%[1]f a write h%[2]d value=%[3]s %[4]s
			%[1]f @ write h%[2]d
			%[1]f a write:ok h%[2]d
			%[1]f a release h%[2]d
			%[1]f a release:ok h%[2]d owned=true
`, at, i, value, base)
		base = "base=" + value
	}
	for i, who := range []string{"b", "c"} {
		fmt.Fprintf(&text, `%[1]d %[2]s acquire %[2]s
			%[1]d %[2]s acquire:ok %[2]s token=%[3]d
			%[1]d %[2]s write %[2]s value=of-%[2]s base=v19
			%[1]d @ write %[2]s
			%[1]d %[2]s write:ok %[2]s
`, 30+i, who, 30+i)
	}
	for _, w := range witnessesOf(t, plainPlan(), text.String()) {
		if w.Missing != "" || len(w.Requests) != 2 || w.Plan.Excerpt.Initial["k"] != "v19" {
			t.Errorf("%s: %s, begins with %v:\n%s", w.Finding, w.Missing, w.Plan.Excerpt, outlineOf(&w))
		}
	}
}

// However many findings there are, witnesses are few, and so is what is read for them.
func TestWitnessesAreFew(t *testing.T) {
	o := longrun.Options{Operations: 40_000, Illegal: .3}
	read := 0
	rec := model.Recording{Plan: o.Plan(), Events: o.Events(), Requests: o.Requests()}
	result, model, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	events := rec.Events
	rec.Events = func(yield func(history.Event, error) bool) {
		for e, err := range events {
			if read++; !yield(e, err) {
				return
			}
		}
	}
	witnesses, err := Witnesses(rec, result, model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := result.Violations(); n < 5_000 || len(witnesses) > explain.MaxWitnesses*len(Names()) {
		t.Errorf("%d witnesses of %d findings", len(witnesses), n)
	}
	if read > int(model.Lines)/10 {
		t.Errorf("%d of %d lines read for findings at the very beginning", read, model.Lines)
	}
	for _, w := range witnesses {
		if w.Missing != "" {
			t.Errorf("%s: %s", w.Finding, w.Missing)
		}
	}
}

// Small random histories, of which each taste violates another property half of the time: every finding has its witness.
func TestRandomHistoriesAreWitnessed(t *testing.T) {
	for _, s := range seconds {
		t.Run(string(s.property), func(t *testing.T) {
			testkit.InParallel(t, min(testkit.Histories(t, 300), 20_000), func(seed uint64) error {
				h := testkit.RandomHistory(seed, s.taste)
				return witnessedAll(h)
			})
		})
	}
}

func witnessedAll(h *testkit.Scribe) error {
	opts := Options{MaxFindings: 1}
	result, judged, err := Check(scribedRecording(h), opts)
	switch {
	case h.Cas && errors.Is(err, model.ErrDefect) && newOracle(h.Plan, h.Events, h.Requests).misplaced() != "":
		return nil // judged elsewhere
	case err != nil:
		return err
	}
	witnesses, err := Witnesses(scribedRecording(h), result, judged, opts)
	if err != nil {
		return err
	}
	for _, w := range witnesses {
		if w.Missing != "" {
			return fmt.Errorf("%s: no witness: %s\n%s", w.Finding, w.Missing, newOracle(h.Plan, h.Events, h.Requests))
		}
		if got, _, err := Check(w.Recording(), opts); err != nil || got.Verdict != model.Violation {
			return fmt.Errorf("the witness of %s: %+v, %v", w.Finding, got, err)
		}
	}
	return nil
}
