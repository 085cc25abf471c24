//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

func exposure(o outcome, name string) int64 {
	for _, x := range o.results.Exposure {
		if x.Name == name {
			return x.Count
		}
	}
	return 0
}

func events(t *testing.T, o outcome) (all []history.Event) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.run(), rundir.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e history.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func storyOf(f model.Finding) string {
	var story []string
	for _, line := range f.Story {
		story = append(story, line.Text)
	}
	return strings.Join(story, "\n")
}

// fault is one injected fault as the history has it.
type fault struct {
	invoked, ended, healed history.Event
}

func faults(t *testing.T, o outcome) map[int64]*fault {
	t.Helper()
	all := map[int64]*fault{}
	for _, e := range events(t, o) {
		if e.Process != history.NemesisProcess {
			continue
		}
		if all[e.Op] == nil {
			all[e.Op] = &fault{}
		}
		switch f := all[e.Op]; {
		case e.Heal && e.Type != history.Invoke:
			f.healed = e
		case !e.Heal && e.Type == history.Invoke:
			f.invoked = e
		case !e.Heal:
			f.ended = e
		}
	}
	return all
}

// figures are how long it took from the decision to a fault until it was seen to work, by kind: the median and the most.
func figures(t *testing.T, o outcome) string {
	t.Helper()
	took := map[history.F][]time.Duration{}
	for _, f := range faults(t, o) {
		if f.ended.Type == history.OK {
			took[f.invoked.F] = append(took[f.invoked.F], time.Duration(f.ended.TimeNS-f.invoked.TimeNS))
		}
	}
	var lines []string
	for kind, all := range took {
		slices.Sort(all)
		lines = append(lines, fmt.Sprintf("%s: %d took effect after %v (median), %v at most", kind, len(all),
			all[len(all)/2].Round(100*time.Microsecond), all[len(all)-1].Round(100*time.Microsecond)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// seenWithin10MS holds the skew that was read back against the one that was asked for.
func seenWithin10MS(t *testing.T, o outcome) {
	t.Helper()
	for _, f := range faults(t, o) {
		if f.ended.F != "clock" || f.ended.Type != history.OK {
			continue
		}
		var jump string
		if _, err := fmt.Sscanf(f.ended.Detail, "wall clock %s", &jump); err != nil {
			t.Fatalf("%q: %v", f.ended.Detail, err)
		}
		asked, err := time.ParseDuration(strings.Trim(jump, "+,"))
		if err != nil {
			t.Fatalf("%q: %v", f.ended.Detail, err)
		}
		if off := time.Duration(f.ended.SkewNS) - asked; off.Abs() > 10*time.Millisecond {
			t.Errorf("%s was to be off by %v and was off by %v", f.ended.Target, asked, time.Duration(f.ended.SkewNS))
		}
	}
}

// blames wants a broken exclusion that is put down to the fault.
func blames(t *testing.T, o outcome, cause string) {
	t.Helper()
	var found []string
	for _, f := range o.of(t, model.MutualExclusion).Findings {
		if f.Cause.Kind == cause {
			return
		}
		found = append(found, f.Cause.Kind)
	}
	t.Errorf("no finding is put down to a %s, but to %q", cause, found)
}

func refusedForTheJVM(t *testing.T, o outcome) {
	t.Helper()
	if o.code != 2 {
		t.Errorf("exit %d, want 2: nothing was tested", o.code)
	}
	all := faults(t, o)
	for _, f := range all {
		if f.ended.Type != history.Fail || !strings.Contains(f.ended.Error, "runs a JVM") {
			t.Errorf("the fault came to %s, %q; want it refused for the JVM", f.ended.Type, f.ended.Error)
		}
	}
	if len(all) == 0 {
		t.Error("no fault was tried")
	}
}

// lossSignalDelay wants that cut-off holders were told, and how long after the next grant that was.
func lossSignalDelay(t *testing.T, o outcome, always bool) {
	t.Helper()
	delays := o.results.Stats.LossSignal
	t.Logf("cut-off holders were told %v after the next grant (median of %d, at most %v)", time.Duration(delays.P50NS), delays.Count, time.Duration(delays.MaxNS))
	if lossSignals(t, o) == 0 {
		t.Error("no cut-off holder was told")
	}
	if (always || o.of(t, model.MutualExclusion).Count > 0) && (delays.Count == 0 || delays.MaxNS <= 0) {
		t.Error("a holder was told after the next grant, and results.json does not say how long")
	}
}

// staleWritesPerLease holds the figure against its parts.
func staleWritesPerLease(t *testing.T, o outcome) {
	t.Helper()
	s := o.results.Stats
	t.Logf("guard %s: %d stale writes accepted for %d outlived leases, %d held back by the guard", o.results.Guard, s.StaleAccepted, s.OutlivedLeases, s.Guarded)
	if s.OutlivedLeases == 0 {
		t.Error("no lease was outlived")
		return
	}
	if want := float64(s.StaleAccepted) / float64(s.OutlivedLeases); s.StalePerOutlived < want-0.01 || s.StalePerOutlived > want+0.01 {
		t.Errorf("results.json gives %v stale writes per outlived lease, want %v", s.StalePerOutlived, want)
	}
	if !strings.Contains(o.stdout, fmt.Sprintf("%.2f", s.StalePerOutlived)) {
		t.Errorf("the summary does not give %.2f:\n%s", s.StalePerOutlived, o.stdout)
	}
}
