package page

import (
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/svg"
	"lockcheck/reports/words"
)

// finding is one finding's story with its drawing, and the same as tables.
type finding struct {
	model.Finding
	Property model.Name
	Marks    []string // "first", "shortest", "worst" of its group
	Open     bool
	Folded   bool // at the end of the page, where one legend serves all
	Face     words.Face
	Picture  svg.Picture
	Holds    []*model.Hold
	Class    []string // of each hold's swatch
	Writes   []history.Request
	// Prevented says what would have prevented it, or its harm.
	Prevented []string
	// Findings of other properties of the same incident, one each, and how many more are shown of it.
	SameAs   []string
	MoreSame int
	CheckIt  string // the command that judges its witness
}

// readable is a finding with its texts cut to what a person reads.
func readable(f model.Finding) model.Finding {
	f.ID, f.Summary, f.Cause.Text = words.Clip(f.ID, words.MaxName), words.Clip(f.Summary, words.MaxSentence), words.Clip(f.Cause.Text, 2*words.MaxSentence)
	f.Story = slices.Clone(f.Story)
	for i := range f.Story {
		f.Story[i].Text = words.Clip(f.Story[i].Text, words.MaxSentence)
	}
	return f
}

func newFinding(f model.Finding, ix *svg.Index) finding {
	f = readable(f)
	item := finding{Finding: f, Picture: svg.Finding(f, ix)}
	for i, id := range f.Holds {
		h := ix.Holds[id]
		if h == nil {
			continue
		}
		class := "older"
		if i == len(f.Holds)-1 && i > 0 {
			class = "newer"
		}
		item.Holds, item.Class = append(item.Holds, h), append(item.Class, class)
	}
	item.Writes = append(item.Writes, ix.Requests(f)...)
	return item
}

// shownFinding names a finding that has its story on the page.
type shownFinding struct {
	id   string
	name model.Name
}

// byIncident are the findings that are shown, by what led to them, in the order of harm: one pause often violates several
// properties, and several times.
func byIncident(r *model.Result) map[string][]shownFinding {
	same := map[string][]shownFinding{}
	for _, name := range slices.SortedStableFunc(slices.Values(checker.Names()), words.ByHarm) {
		p := r.Property(name)
		if p == nil {
			continue
		}
		for _, f := range p.Findings {
			if f.Incident != "" {
				same[f.Incident] = append(same[f.Incident], shownFinding{f.ID, name})
			}
		}
	}
	return same
}

// othersOf are the first finding of each other property of one incident, and how many more are shown of it.
func othersOf(incident []shownFinding, f model.Finding, of model.Name) (ids []string, more int) {
	named := map[model.Name]bool{of: true}
	for _, t := range incident {
		switch {
		case t.id == f.ID:
		case named[t.name]:
			more++
		default:
			named[t.name] = true
			ids = append(ids, t.id)
		}
	}
	return ids, more
}

// refused are the rejected writes as the page lists them.
type refused struct {
	By     history.ResourceKind
	Listed []words.RejectedWrite
	All    int64
}

func newRefused(plan history.Plan, m *model.Model) refused {
	first, all := words.RejectedWrites(plan, m)
	return refused{plan.ResourceKind(), first, all}
}
