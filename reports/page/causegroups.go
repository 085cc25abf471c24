package page

import (
	"cmp"
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// group is the findings that one kind of cause explains and that weigh the same.
type group struct {
	Cause   string // "pause of holder"
	Face    words.Face
	Verdict model.Verdict
	// Found is such as "2 incidents; shown here: 2 of stale-write, 50 of mutual-exclusion; their causes name 2 faults".
	Found string
	// Shown stand in the page's flow: the first, the shortest and the worst of the group, and the first of each property.
	Shown []finding
	Rest  []finding
}

// findingGroups groups the findings by cause, the most harmful first. The very first of the headline's is open.
func findingGroups(j rundir.Judgement, ix *svg.Index) []group {
	type key struct {
		verdict model.Verdict
		cause   string
	}
	incidents := byIncident(j.Result)
	members := map[key][]finding{}
	var order []key
	for _, p := range words.InHarmsOrder(j.Result) {
		for _, f := range p.Findings {
			k := key{p.Verdict, words.Cause(f.Cause, ix.Faults)}
			if members[k] == nil {
				order = append(order, k)
			}
			item := newFinding(f, ix)
			item.Property, item.Face = p.Name, words.FaceOf(p.Verdict)
			item.SameAs, item.MoreSame = othersOf(incidents[f.Incident], f, p.Name)
			item.CheckIt = words.CheckWitness(j.Result, words.WhereResults(j.Result), f)
			item.Prevented = words.Prevention(p.Name, ix.Evidence(j.Plan, p, f))
			members[k] = append(members[k], item)
		}
	}
	groups := make([]group, 0, len(order))
	for _, k := range order {
		truncated := truncatedOf(j.Result, k.verdict)
		g := newGroup(k.cause, k.verdict, members[k], truncated)
		g.Found = groupWords(members[k], len(truncated) > 0, words.IncidentsOf(j.Result, k.verdict))
		groups = append(groups, g)
	}
	if len(groups) > 0 {
		groups[0].Shown[0].Open = true
	}
	return groups
}

// Folded reports whether any group has stories at the end of the page.
func (p page) Folded() bool {
	return slices.ContainsFunc(p.Groups, func(g group) bool { return len(g.Rest) > 0 })
}

// newGroup takes its findings in the order of harm, and of each property in the order of time.
func newGroup(cause string, verdict model.Verdict, findings []finding, truncated []*model.Property) group {
	g := group{Cause: cause, Face: words.FaceOf(verdict), Verdict: verdict}
	mark(findings, truncated)
	shown := map[model.Name]bool{}
	for _, f := range findings {
		if len(f.Marks) > 0 || !shown[f.Property] {
			shown[f.Property] = true
			g.Shown = append(g.Shown, f)
		} else {
			f.Folded = true
			g.Rest = append(g.Rest, f)
		}
	}
	return g
}

// truncatedOf are the properties of a verdict that have more findings than are shown. The others may be of any cause.
func truncatedOf(r *model.Result, verdict model.Verdict) (truncated []*model.Property) {
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Verdict == verdict && p.Count > int64(len(p.Findings)) {
			truncated = append(truncated, p)
		}
	}
	return truncated
}

// mark says which of a group's findings are worth reading first: the first to come; the one with the shortest story, which
// is the easiest to follow; and the worst, which of the most harmful property went on for longest. Where one that is not shown
// might be it instead, the mark says that it was chosen among those that are shown.
func mark(findings []finding, truncated []*model.Property) {
	length := func(f *finding) int64 { return f.ToNS - f.FromNS }
	best := func(word string, compare func(a, b *finding) int, mayBe func(*finding, *model.Property) bool) {
		chosen := &findings[0]
		for i := range findings {
			if compare(&findings[i], chosen) < 0 {
				chosen = &findings[i]
			}
		}
		if slices.ContainsFunc(truncated, func(p *model.Property) bool { return mayBe(chosen, p) }) {
			word += ofThoseShown
		}
		chosen.Marks = append(chosen.Marks, word)
	}
	if len(findings) < 2 {
		return
	}
	best("first", func(a, b *finding) int { return cmp.Compare(a.AtNS, b.AtNS) },
		// The findings shown of a property are its earliest.
		func(f *finding, p *model.Property) bool {
			return len(p.Findings) == 0 || p.Findings[len(p.Findings)-1].AtNS < f.AtNS
		})
	best("shortest", func(a, b *finding) int {
		return cmp.Or(cmp.Compare(len(a.Story), len(b.Story)), cmp.Compare(length(a), length(b)))
	}, func(*finding, *model.Property) bool { return true })
	best("worst", func(a, b *finding) int {
		return cmp.Or(words.ByHarm(a.Property, b.Property), cmp.Compare(length(b), length(a)))
	}, func(f *finding, p *model.Property) bool { return words.ByHarm(p.Name, f.Property) <= 0 })
}

const ofThoseShown = " of those shown"
