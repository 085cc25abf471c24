package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker"
)

// told says how many findings there are in all, and how many of them have their stories on the page.
type told struct {
	All, Here int64
	ByName    string // "87 overlaps of two holders, 4 stale writes accepted"
}

func newTold(r *checker.Result) told {
	var t told
	var names []string
	for _, p := range inHarmsOrder(r) {
		if len(p.Findings) == 0 && p.Count == 0 {
			continue
		}
		t.All += max(p.Count, int64(len(p.Findings)))
		t.Here += int64(len(p.Findings))
		words := counted(p)
		if p.Verdict == checker.Masked {
			words += " (masked)"
		}
		names = append(names, words)
	}
	t.ByName = strings.Join(names, ", ")
	return t
}

// group is the findings that one kind of cause explains and that weigh the same.
type group struct {
	Cause   string // "pause of holder"
	Face    face
	Verdict checker.Verdict
	Told    int
	ByName  string // "4 of stale-write, 50 of mutual-exclusion"
	Faults  string // how few faults are behind them
	// Shown stand in the page's flow: the first, the shortest and the worst of the group, and the first of each property.
	Shown []finding
	Rest  []finding
}

// unexplained is what findings without a cause are grouped under, as the checker names it.
const unexplained = "unexplained"

// findingGroups groups the findings by cause, the most harmful first. The very first of the headline's is open.
func findingGroups(j Judgement, ix *index) []group {
	type key struct {
		verdict checker.Verdict
		cause   string
	}
	same := sameFault(j.Result)
	members := map[key][]finding{}
	var order []key
	for _, p := range inHarmsOrder(j.Result) {
		for _, f := range p.Findings {
			k := key{p.Verdict, firstOf(f.Cause.Kind, unexplained)}
			if members[k] == nil {
				order = append(order, k)
			}
			item := newFinding(f, ix)
			item.Property, item.Face = p.Name, faceOf(p.Verdict)
			item.SameAs, item.MoreSame = same.others(f, p.Name)
			item.CheckIt = checkWitness(j.Result, whereResults(j.Result), f)
			item.Prevented = prevention(j.Plan, p, f, ix)
			members[k] = append(members[k], item)
		}
	}
	groups := make([]group, 0, len(order))
	for _, k := range order {
		groups = append(groups, newGroup(k.cause, k.verdict, members[k], untoldOf(j.Result, k.verdict)))
	}
	if len(groups) > 0 {
		groups[0].Shown[0].Open = true
	}
	return groups
}

// Folded tells whether any group has stories at the end of the page.
func (p page) Folded() bool {
	return slices.ContainsFunc(p.Groups, func(g group) bool { return len(g.Rest) > 0 })
}

// newGroup takes its findings in the order of harm, and of each property in the order of time.
func newGroup(cause string, verdict checker.Verdict, findings []finding, untold []*checker.Property) group {
	g := group{Cause: cause, Face: faceOf(verdict), Verdict: verdict, Told: len(findings)}
	mark(findings, untold)
	faults, shown := map[int64]bool{}, map[checker.Name]bool{}
	var names []checker.Name
	counts := map[checker.Name]int{}
	for _, f := range findings {
		faults[f.Cause.Fault] = true
		if counts[f.Property]++; counts[f.Property] == 1 {
			names = append(names, f.Property)
		}
		if len(f.Marks) > 0 || !shown[f.Property] {
			shown[f.Property] = true
			g.Shown = append(g.Shown, f)
		} else {
			f.Folded = true
			g.Rest = append(g.Rest, f)
		}
	}
	var words []string
	for _, name := range names {
		words = append(words, fmt.Sprintf("%d of %s", counts[name], name))
	}
	g.ByName = strings.Join(words, ", ")
	if delete(faults, 0); len(faults) > 0 {
		g.Faults = plural(int64(len(faults)), "fault", "faults")
	}
	return g
}

// untoldOf are the properties of a verdict that have more findings than are told. The others may be of any cause.
func untoldOf(r *checker.Result, verdict checker.Verdict) (untold []*checker.Property) {
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Verdict == verdict && p.Count > int64(len(p.Findings)) {
			untold = append(untold, p)
		}
	}
	return untold
}

// mark says which of a group's findings are worth reading first: the first to come; the one with the shortest story, which
// is the easiest to follow; and the worst, which of the most harmful property went on for longest. Where one that is not
// told might be it instead, the mark says that it was chosen of those that are told.
func mark(findings []finding, untold []*checker.Property) {
	length := func(f *finding) int64 { return f.ToNS - f.FromNS }
	best := func(word string, compare func(a, b *finding) int, mayBe func(*finding, *checker.Property) bool) {
		least := &findings[0]
		for i := range findings {
			if compare(&findings[i], least) < 0 {
				least = &findings[i]
			}
		}
		if slices.ContainsFunc(untold, func(p *checker.Property) bool { return mayBe(least, p) }) {
			word += ofThoseTold
		}
		least.Marks = append(least.Marks, word)
	}
	if len(findings) < 2 {
		return
	}
	best("first", func(a, b *finding) int { return cmp.Compare(a.AtNS, b.AtNS) },
		// What is told of a property are its earliest.
		func(f *finding, p *checker.Property) bool {
			return len(p.Findings) == 0 || p.Findings[len(p.Findings)-1].AtNS < f.AtNS
		})
	best("shortest", func(a, b *finding) int {
		return cmp.Or(cmp.Compare(len(a.Story), len(b.Story)), cmp.Compare(length(a), length(b)))
	}, func(*finding, *checker.Property) bool { return true })
	best("worst", func(a, b *finding) int {
		return cmp.Or(cmp.Compare(harm(a.Property), harm(b.Property)), cmp.Compare(length(b), length(a)))
	}, func(f *finding, p *checker.Property) bool { return harm(p.Name) <= harm(f.Property) })
}

const ofThoseTold = " of those told"

// harm is the rank of a property in the order of harm; those that this page does not know come last.
func harm(name checker.Name) int {
	if i := slices.Index(byHarm, name); i >= 0 {
		return i
	}
	return len(byHarm)
}

// inHarmsOrder are the properties as a reader has to hear of them: what is violated first, then by harm.
func inHarmsOrder(r *checker.Result) []*checker.Property {
	verdicts := []checker.Verdict{checker.Violation, checker.Inconclusive, checker.Masked, checker.Pass, checker.NotApplicable}
	all := make([]*checker.Property, len(r.Properties))
	for i := range r.Properties {
		all[i] = &r.Properties[i]
	}
	slices.SortStableFunc(all, func(a, b *checker.Property) int {
		return cmp.Or(cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict)), cmp.Compare(harm(a.Name), harm(b.Name)))
	})
	return all
}
