package terminal

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/testkit"
)

// The log of a test has room for a few stories. Two believers come with every pause; what the lock itself did wrong must not
// be what is left out.
func TestWhatTheLockDidWrongIsToldBeforeWhatPausesAlwaysDo(t *testing.T) {
	violated := func(name model.Name, layer model.Layer) model.Property {
		return model.Property{Name: name, Layer: layer, Verdict: model.Violation, Findings: []model.Finding{{ID: string(name) + "-1"}, {ID: string(name) + "-2"}}}
	}
	r := &model.Result{Properties: []model.Property{
		violated(model.MutualExclusion, model.LayerBelief),
		{Name: model.EarlyExpiry, Layer: model.LayerService, Verdict: model.Pass},
		violated(model.ReleaseByOwner, model.LayerService),
		violated(model.StaleWrite, model.LayerHarm),
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
	violated := func(name model.Name, layer model.Layer, incident string) model.Property {
		f := model.Finding{ID: string(name) + "-1", Incident: incident, Summary: "what " + string(name) + " says", Story: []model.Line{{Text: "the story of " + string(name)}}}
		return model.Property{Name: name, Layer: layer, Verdict: model.Violation, Count: 1, Incidents: 1, Findings: []model.Finding{f}}
	}
	r := &model.Result{Incidents: 5, Properties: []model.Property{
		violated(model.MutualExclusion, model.LayerBelief, "h1"), violated(model.StaleWrite, model.LayerHarm, "h1"),
		violated(model.EarlyExpiry, model.LayerService, "h2"), violated(model.LockLinearizability, model.LayerService, "h2"),
		violated(model.TokenMonotonicity, model.LayerService, "h3"), violated(model.LostUpdate, model.LayerHarm, "h4"),
		violated(model.Liveness, model.LayerService, "lock k1"),
	}}
	var out strings.Builder
	writeFirstStories(&out, r, testkit.Dir(t, "run"))
	want := `
stale-write-1: what stale-write says
   1.    0.000 s  the story of stale-write

early-expiry-1: what early-expiry says
   1.    0.000 s  the story of early-expiry

lock-linearizability-1: what lock-linearizability says
  of the same incident as early-expiry-1

token-monotonicity-1: what token-monotonicity says
   1.    0.000 s  the story of token-monotonicity

mutual-exclusion-1: what mutual-exclusion says
  of the same incident as stale-write-1

2 violated properties more in the report
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheFailureOfATestBeginsWithIncidents(t *testing.T) {
	var out strings.Builder
	Failure(&out, testkit.EtcdPauseRun(), testkit.Dir(t, "run"))
	if want := "✗ UNSAFE under pause: 3 stale writes accepted (3 incidents), first at 4.967 s"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("it begins with %.120q, want %q", out.String(), want)
	}
}
