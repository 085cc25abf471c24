package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/testkit"
)

func marksOf(g group) string {
	var shown []string
	for _, f := range g.Shown {
		shown = append(shown, f.ID+strings.Join(append([]string{""}, f.Marks...), " "))
	}
	return strings.Join(shown, ", ")
}

func TestFindingsAreGroupedByCause(t *testing.T) {
	r := &model.Result{Verdict: model.Violation, Properties: []model.Property{
		{Name: model.MutualExclusion, Verdict: model.Violation, Count: 70, Findings: []model.Finding{
			testkit.Finding(model.MutualExclusion, 1, "pause of holder", 10, 5, 9), testkit.Finding(model.MutualExclusion, 2, "pause of holder", 20, 5, 3),
			testkit.Finding(model.MutualExclusion, 3, "", 30, 5, 4)}},
		{Name: model.StaleWrite, Verdict: model.Violation, Count: 3, Findings: []model.Finding{
			testkit.Finding(model.StaleWrite, 1, "pause of holder", 15, 5, 8), testkit.Finding(model.StaleWrite, 2, "pause of holder", 25, 9, 8),
			testkit.Finding(model.StaleWrite, 3, "kill of server", 35, 1, 2)}},
	}}
	j := rundir.Judgement{Result: r, Model: &model.Model{EndNS: 40}}
	groups := findingGroups(j, svg.NewIndex(j))
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprintf("%s (%s) %s; %d folded", g.Cause, g.Found, marksOf(g), len(g.Rest)))
	}
	want := []string{
		// Overlaps that are not shown may have shorter stories. They cannot be worse than a stale write, nor come before those
		// shown.
		"pause of holder (shown here: 2 of stale-write, 2 of mutual-exclusion) stale-write-1, stale-write-2 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those shown; 0 folded",
		"kill of server (shown here: 1 of stale-write) stale-write-3; 0 folded",
		"no fault explains it (shown here: 1 of mutual-exclusion) mutual-exclusion-3; 0 folded",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !groups[0].Shown[0].Open || groups[0].Shown[1].Open || groups[1].Shown[0].Open {
		t.Error("not only the first story is open")
	}
	r.Incidents = 5
	if o := newOverview(history.Plan{Fenced: true}, r); o.All != 73 || o.Here != 6 || o.Found != "5 incidents, 73 findings" || o.ByName != "3 stale writes accepted, 70 overlaps of two holders" {
		t.Errorf("the overview is %+v", o)
	}
}

// The findings shown are the first of each property: which is worst of all, or shortest, was not looked at.
func TestMarksSayWhereTheyAreOfThoseShownAlone(t *testing.T) {
	overlap := func(n int, at, lasted int64) model.Finding {
		return testkit.Finding(model.MutualExclusion, n, "pause of holder", at, lasted, 9-n)
	}
	stale := testkit.Finding(model.StaleWrite, 1, "pause of holder", 30, 5, 9)
	for name, test := range map[string]struct {
		overlaps, staleWrites int64 // in all
		masked                bool  // the overlaps
		want                  string
	}{
		"all are told":                 {2, 1, false, "stale-write-1 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest"},
		"more overlaps":                {3, 1, false, "stale-write-1 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those shown"},
		"more stale writes":            {2, 4, false, "stale-write-1 worst of those shown, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those shown"},
		"more, of another verdict":     {2, 4, true, "mutual-exclusion-1 first worst, mutual-exclusion-2 shortest"},
		"more, of which none are told": {2, -4, false, "mutual-exclusion-1 first of those shown worst of those shown, mutual-exclusion-2 shortest of those shown"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &model.Result{Verdict: model.Violation, Properties: []model.Property{
				{Name: model.MutualExclusion, Verdict: model.Violation, Count: test.overlaps, Findings: []model.Finding{overlap(1, 10, 9), overlap(2, 20, 5)}},
				{Name: model.StaleWrite, Verdict: model.Violation, Count: max(test.staleWrites, -test.staleWrites), Findings: []model.Finding{stale}},
			}}
			if test.masked {
				r.Properties[0].Verdict = model.Masked
			}
			if test.staleWrites < 0 {
				r.Properties[1].Findings = nil
			}
			j := rundir.Judgement{Result: r, Model: &model.Model{EndNS: 40}}
			groups := findingGroups(j, svg.NewIndex(j))
			if got := marksOf(groups[len(groups)-1]); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestMaskedFindingsStandApart(t *testing.T) {
	r := &model.Result{Verdict: model.Violation, Properties: []model.Property{
		{Name: model.MutualExclusion, Verdict: model.Masked, Count: 2, Incidents: 1, Findings: []model.Finding{
			testkit.Finding(model.MutualExclusion, 1, "pause of holder", 10, 5, 9), testkit.Finding(model.MutualExclusion, 2, "pause of holder", 20, 5, 3)}},
		{Name: model.Liveness, Verdict: model.Violation, Count: 1, Findings: []model.Finding{testkit.Finding(model.Liveness, 1, "pause of holder", 30, 5, 3)}},
	}}
	j := rundir.Judgement{Result: r, Model: &model.Model{EndNS: 40}}
	groups := findingGroups(j, svg.NewIndex(j))
	if len(groups) != 2 || groups[0].Verdict != model.Violation || groups[1].Verdict != model.Masked {
		t.Fatalf("groups %+v", groups)
	}
	if o := newOverview(history.Plan{Fenced: true}, r); !slices.Equal(o.Others, []string{"1 incident masked by fencing (2 overlaps of two holders)"}) || strings.Contains(o.ByName, "overlap") {
		t.Errorf("the overview is %+v", o)
	}
}

func TestEveryFindingIsOnThePageOnceInAnyGroup(t *testing.T) {
	j := testkit.EtcdPauseRun()
	p := j.Result.Property(model.StaleWrite)
	for i := len(p.Findings); i < 30; i++ {
		f := p.Findings[0]
		f.ID = fmt.Sprintf("stale-write-%d", i+1)
		p.Findings = append(p.Findings, f)
	}
	p.Count = 4000
	page, doc := rendered(t, j)
	for i := range 30 {
		if n := strings.Count(page, fmt.Sprintf(`id="v=stale-write-%d"`, i+1)); n != 1 {
			t.Errorf("stale-write-%d is there %d times", i+1, n)
		}
	}
	phrase := testkit.Text(doc)
	for _, want := range []string{"3 incidents, 4,003 findings: 4,000 stale writes accepted, 3 overlaps of two holders.", "33 of the 4,003 findings are shown here", "31 more of this cause"} {
		if !strings.Contains(phrase, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestAGroupNamesEveryKindOfFaultThatMayExplainIt(t *testing.T) {
	j := testkit.SuspectedRun()
	g := findingGroups(j, svg.NewIndex(j))[0]
	if want := "clock skew of server or kill or pause"; g.Cause != want {
		t.Errorf("the group is headed %q, want %q", g.Cause, want)
	}
	if want := "shown here: 1 of early-expiry; their causes name 3 faults"; g.Found != want {
		t.Errorf("it says %q, want %q", g.Found, want)
	}
	j.Result.Properties[0].Findings[0].Cause.Kind = "release by another client"
	if g := findingGroups(j, svg.NewIndex(j))[0]; g.Cause != "release by another client" {
		t.Errorf("where it is proven what removed the grant the group is headed %q", g.Cause)
	}
	j.Result.Properties[0].Findings[0].Cause = model.Cause{Kind: "clock skew of server", Fault: 1}
	if g := findingGroups(j, svg.NewIndex(j))[0]; g.Cause != "clock skew of server" || !strings.HasSuffix(g.Found, "name 1 fault") {
		t.Errorf("one suspect: %q, %q", g.Cause, g.Found)
	}
}
