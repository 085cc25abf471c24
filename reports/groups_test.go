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
		// Overlaps that are not told may be shorter to tell. They cannot be worse than a stale write, nor come before those told.
		"pause of holder (2 of stale-write, 2 of mutual-exclusion) stale-write-1, stale-write-2 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those told; 0 folded",
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

// What is told are the first of each property: which is worst of all, or shortest, nobody has looked at.
func TestMarksSayWhereTheyAreOfThoseToldAlone(t *testing.T) {
	overlap := func(n int, at, lasted int64) checker.Finding {
		return found(checker.MutualExclusion, n, "pause of holder", at, lasted, 9-n)
	}
	stale := found(checker.StaleWrite, 1, "pause of holder", 30, 5, 9)
	for name, test := range map[string]struct {
		overlaps, staleWrites int64 // in all
		masked                bool  // the overlaps
		want                  string
	}{
		"all are told":                 {2, 1, false, "stale-write-1 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest"},
		"more overlaps":                {3, 1, false, "stale-write-1 worst, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those told"},
		"more stale writes":            {2, 4, false, "stale-write-1 worst of those told, mutual-exclusion-1 first, mutual-exclusion-2 shortest of those told"},
		"more, of another verdict":     {2, 4, true, "mutual-exclusion-1 first worst, mutual-exclusion-2 shortest"},
		"more, of which none are told": {2, -4, false, "mutual-exclusion-1 first of those told worst of those told, mutual-exclusion-2 shortest of those told"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
				{Name: checker.MutualExclusion, Verdict: checker.Violation, Count: test.overlaps, Findings: []checker.Finding{overlap(1, 10, 9), overlap(2, 20, 5)}},
				{Name: checker.StaleWrite, Verdict: checker.Violation, Count: max(test.staleWrites, -test.staleWrites), Findings: []checker.Finding{stale}},
			}}
			if test.masked {
				r.Properties[0].Verdict = checker.Masked
			}
			if test.staleWrites < 0 {
				r.Properties[1].Findings = nil
			}
			j := Judgement{Result: r, Model: &checker.Model{EndNS: 40}}
			groups := findingGroups(j, newIndex(j))
			if got := marksOf(groups[len(groups)-1]); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
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
