package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker"
)

// found is a made-up finding: its property, number, cause, when it was complete, how long it went on, and how many lines
// its story has.
func found(name checker.Name, n int, cause string, at, lasted int64, lines int) checker.Finding {
	return checker.Finding{ID: fmt.Sprintf("%s-%d", name, n), Key: "k", Cause: checker.Cause{Kind: cause}, AtNS: at, FromNS: at - lasted, ToNS: at,
		Story: make([]checker.Line, lines)}
}

func marksOf(g group) string {
	var words []string
	for _, f := range g.Shown {
		words = append(words, f.ID+strings.Join(append([]string{""}, f.Marks...), " "))
	}
	return strings.Join(words, ", ")
}

func TestFindingsAreGroupedByCause(t *testing.T) {
	r := &checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
		{Name: checker.MutualExclusion, Verdict: checker.Violation, Count: 70, Findings: []checker.Finding{
			found(checker.MutualExclusion, 1, "pause of holder", 10, 5, 9), found(checker.MutualExclusion, 2, "pause of holder", 20, 5, 3),
			found(checker.MutualExclusion, 3, "", 30, 5, 4)}},
		{Name: checker.StaleWrite, Verdict: checker.Violation, Count: 3, Findings: []checker.Finding{
			found(checker.StaleWrite, 1, "pause of holder", 15, 5, 8), found(checker.StaleWrite, 2, "pause of holder", 25, 9, 8),
			found(checker.StaleWrite, 3, "kill of server", 35, 1, 2)}},
	}}
	j := Judgement{Result: r, Model: &checker.Model{EndNS: 40}}
	groups := findingGroups(j, newIndex(j))
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprintf("%s (%s) %s; %d folded", g.Cause, g.ByName, marksOf(g), len(g.Rest)))
	}
	want := []string{
		"pause of holder (2 of stale-write, 2 of mutual-exclusion) stale-write-1, stale-write-2 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest; 0 folded",
		"kill of server (1 of stale-write) stale-write-3; 0 folded",
		"unexplained (1 of mutual-exclusion) mutual-exclusion-3; 0 folded",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !groups[0].Shown[0].Open || groups[0].Shown[1].Open || groups[1].Shown[0].Open {
		t.Error("not only the first story is open")
	}
	if told := newTold(r); told.All != 73 || told.Here != 6 || told.ByName != "3 stale writes accepted, 70 overlaps of two holders" {
		t.Errorf("told %+v", told)
	}
}

func TestMaskedFindingsStandApart(t *testing.T) {
	r := &checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
		{Name: checker.MutualExclusion, Verdict: checker.Masked, Count: 2, Findings: []checker.Finding{
			found(checker.MutualExclusion, 1, "pause of holder", 10, 5, 9), found(checker.MutualExclusion, 2, "pause of holder", 20, 5, 3)}},
		{Name: checker.Liveness, Verdict: checker.Violation, Count: 1, Findings: []checker.Finding{found(checker.Liveness, 1, "pause of holder", 30, 5, 3)}},
	}}
	j := Judgement{Result: r, Model: &checker.Model{EndNS: 40}}
	groups := findingGroups(j, newIndex(j))
	if len(groups) != 2 || groups[0].Verdict != checker.Violation || groups[1].Verdict != checker.Masked {
		t.Fatalf("groups %+v", groups)
	}
	if told := newTold(r); !strings.Contains(told.ByName, "2 overlaps of two holders (masked)") {
		t.Errorf("told %q", told.ByName)
	}
}

func TestEveryFindingIsOnThePageOnceWhateverItsGroup(t *testing.T) {
	j := etcdPauseRun()
	p := property(j.Result, checker.StaleWrite)
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
	words := text(doc)
	for _, want := range []string{"4,003 in all", "33 of them are told here", "31 more of this cause"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
