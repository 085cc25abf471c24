package terminal

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/reports/internal/madeup"
)

// The log of a test has room for a few stories. Two believers come with every pause; what the lock itself did wrong must not
// be what is left out.
func TestWhatTheLockDidWrongIsToldBeforeWhatPausesAlwaysDo(t *testing.T) {
	violated := func(name checker.Name, layer checker.Layer) checker.Property {
		return checker.Property{Name: name, Layer: layer, Verdict: checker.Violation, Findings: []checker.Finding{{ID: string(name) + "-1"}, {ID: string(name) + "-2"}}}
	}
	r := &checker.Result{Properties: []checker.Property{
		violated(checker.MutualExclusion, checker.LayerBelief),
		{Name: checker.EarlyExpiry, Layer: checker.LayerService, Verdict: checker.Pass},
		violated(checker.ReleaseByOwner, checker.LayerService),
		violated(checker.StaleWrite, checker.LayerFencing),
	}}
	var ids []string
	for _, f := range firstFindings(r) {
		ids = append(ids, f.ID)
	}
	if want := []string{"stale-write-1", "release-by-owner-1", "mutual-exclusion-1"}; !slices.Equal(ids, want) {
		t.Errorf("told %q, want %q", ids, want)
	}
}

// The stories of one incident's findings are one story; what else it led to takes a line.
func TestTheLogOfATestShowsAnIncidentOnce(t *testing.T) {
	violated := func(name checker.Name, layer checker.Layer, incident string) checker.Property {
		f := checker.Finding{ID: string(name) + "-1", Incident: incident, Summary: "what " + string(name) + " says", Story: []checker.Line{{Text: "the story of " + string(name)}}}
		return checker.Property{Name: name, Layer: layer, Verdict: checker.Violation, Count: 1, Incidents: 1, Findings: []checker.Finding{f}}
	}
	r := &checker.Result{Incidents: 5, Properties: []checker.Property{
		violated(checker.MutualExclusion, checker.LayerBelief, "h1"), violated(checker.StaleWrite, checker.LayerFencing, "h1"),
		violated(checker.EarlyExpiry, checker.LayerService, "h2"), violated(checker.LockLinearizability, checker.LayerService, "h2"),
		violated(checker.TokenMonotonicity, checker.LayerFencing, "h3"), violated(checker.LostUpdate, checker.LayerEffect, "h4"),
		violated(checker.Liveness, checker.LayerLiveness, "lock k1"),
	}}
	var out strings.Builder
	writeFirstStories(&out, r, madeup.Dir(t, "run"))
	want := `
stale-write-1: what stale-write says
   1.    0.000 s  the story of stale-write

early-expiry-1: what early-expiry says
   1.    0.000 s  the story of early-expiry

lock-linearizability-1: what lock-linearizability says
  of the same incident as early-expiry-1

mutual-exclusion-1: what mutual-exclusion says
  of the same incident as stale-write-1

token-monotonicity-1: what token-monotonicity says
   1.    0.000 s  the story of token-monotonicity

2 violated properties more in the report
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheFailureOfATestBeginsWithIncidents(t *testing.T) {
	var out strings.Builder
	Failure(&out, madeup.EtcdPauseRun(), madeup.Dir(t, "run"))
	if want := "✗ UNSAFE under pause: 3 stale writes accepted (3 incidents), first at 4.967 s"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("it begins with %.120q, want %q", out.String(), want)
	}
}
