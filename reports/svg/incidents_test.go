package svg

import (
	"slices"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/words"
)

func TestIncidentsWithoutAnyFindingOnThePageAreCounted(t *testing.T) {
	r := testkit.TwoPauses()
	if n := words.IncidentsUntold(r); n != 0 {
		t.Errorf("%d incidents have no mark, want 0", n)
	}
	r.Incidents = 9
	if n := words.IncidentsUntold(r); n != 7 {
		t.Errorf("%d incidents have no mark, want 7", n)
	}
	r.Properties[0].Verdict, r.Properties[0].Incidents, r.Incidents = model.Masked, 12, 2
	if n := words.IncidentsUntold(r); n != 11 {
		t.Errorf("%d incidents have no mark, want 11 of those that are masked", n)
	}
	j := rundir.Judgement{Result: r, Model: &model.Model{EndNS: 40}}
	if left := NewTimeline(j, NewIndex(j)).LeftOut; !slices.Contains(left, "11 incidents have no mark at all") {
		t.Errorf("the timeline says %q", left)
	}
}

func TestFindingsOfOneIncidentHaveOneNumberInTheTimeline(t *testing.T) {
	j := rundir.Judgement{Result: testkit.TwoPauses(), Model: &model.Model{EndNS: 40}}
	numbers := map[string]int{}
	for _, f := range NewTimeline(j, NewIndex(j)).Findings {
		numbers[f.ID] = f.Incident
	}
	if a, b, c := numbers["mutual-exclusion-1"], numbers["stale-write-1"], numbers["stale-write-2"]; a != b || b == c {
		t.Errorf("the numbers are %v", numbers)
	}
}
