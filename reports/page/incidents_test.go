package page

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/testkit"
)

func groupsOf(r *model.Result, faults ...*model.Fault) []group {
	j := rundir.Judgement{Result: r, Model: &model.Model{EndNS: 40, Faults: faults}}
	return findingGroups(j, svg.NewIndex(j))
}

func TestAFindingNamesTheOthersOfItsIncident(t *testing.T) {
	same := map[string]finding{}
	for _, g := range groupsOf(testkit.TwoPauses()) {
		for _, f := range append(g.Shown, g.Rest...) {
			same[f.ID] = f
		}
	}
	if f := same["stale-write-1"]; !slices.Equal(f.SameAs, []string{"mutual-exclusion-1"}) || f.MoreSame != 1 {
		t.Errorf("stale-write-1 names %q and %d more", f.SameAs, f.MoreSame)
	}
	if f := same["stale-write-2"]; len(f.SameAs) > 0 || f.MoreSame > 0 {
		t.Errorf("stale-write-2, of another incident by the same kind of fault, names %q and %d more", f.SameAs, f.MoreSame)
	}
}

func TestAGroupCountsItsIncidents(t *testing.T) {
	r := testkit.TwoPauses()
	if got, want := groupsOf(r)[0].Found, "2 incidents; shown here: 2 of stale-write, 2 of mutual-exclusion"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Incidents = 9 // seven of which are of overlaps that are not told
	if got := groupsOf(r)[0].Found; !strings.HasPrefix(got, "at least 2 incidents; shown here: ") {
		t.Errorf("where overlaps of other incidents are not told: %s", got)
	}
	r.Properties[0].Count = 2 // all are told, and the other incidents have another cause
	if got := groupsOf(r)[0].Found; !strings.HasPrefix(got, "2 incidents; ") {
		t.Errorf("where all are told: %s", got)
	}
}

func TestThePageCountsIncidentsFirst(t *testing.T) {
	j := testkit.EtcdPauseRun()
	p := j.Result.Property(model.MutualExclusion)
	p.Count = 1057
	_, doc := rendered(t, j)
	phrase := strings.Join(strings.Fields(testkit.Text(doc)), " ")
	for _, want := range []string{
		"UNSAFE under pause: 3 stale writes accepted (3 incidents)",
		"violation: 3 incidents, 1,057 findings",                                               // the card of mutual-exclusion
		"3 incidents, 1,060 findings: 3 stale writes accepted, 1,057 overlaps of two holders.", // above the findings
		"violation: 3 incidents; shown here: 3 of stale-write, 3 of mutual-exclusion; their causes name 3 faults",
		"incident h54, which also led to mutual-exclusion-1",
	} {
		if !strings.Contains(phrase, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	p.Verdict = model.Masked
	_, doc = rendered(t, j)
	if phrase := strings.Join(strings.Fields(testkit.Text(doc)), " "); !strings.Contains(phrase, "masked: 3 incidents, 1,057 findings") {
		t.Error("the card of a masked property does not tell its incidents")
	}
}
