package reports

import (
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// finding is one finding's story with its drawing, and the same as tables.
type finding struct {
	checker.Finding
	Property checker.Name
	Marks    []string // "first", "shortest", "worst" of its group
	Open     bool
	Folded   bool // at the end of the page, where one legend serves all
	Face     face
	Picture  picture
	Holds    []*checker.Hold
	Class    []string // of each hold's swatch
	Writes   []history.Request
	// Prevented says what would have prevented it, or its harm.
	Prevented []string
	// Findings of other properties that the same fault caused, one each, and how many more it caused.
	SameAs   []string
	MoreSame int
	CheckIt  string // the command that judges its witness
}

// Most characters of what a page takes over from a finding: a value may be a megabyte, and every story that it is part of
// would have it. The history has all of it.
const (
	maxSentence = 400
	maxName     = 120
)

// readable is a finding with its texts cut to what anybody reads.
func readable(f checker.Finding) checker.Finding {
	f.ID, f.Summary, f.Cause.Text = clip(f.ID, maxName), clip(f.Summary, maxSentence), clip(f.Cause.Text, 2*maxSentence)
	f.Story = slices.Clone(f.Story)
	for i := range f.Story {
		f.Story[i].Text = clip(f.Story[i].Text, maxSentence)
	}
	return f
}

func newFinding(f checker.Finding, ix *index) finding {
	f = readable(f)
	item := finding{Finding: f, Picture: drawFinding(f, ix)}
	for i, id := range f.Holds {
		h := ix.holds[id]
		if h == nil {
			continue
		}
		class := "older"
		if i == len(f.Holds)-1 && i > 0 {
			class = "newer"
		}
		item.Holds, item.Class = append(item.Holds, h), append(item.Class, class)
	}
	item.Writes = append(item.Writes, ix.requestsWithin(f.Key, 1, 0, f.Requests)...)
	return item
}

// incidents are the findings by the fault that caused them, in the order of harm: one pause often violates several
// properties, and several times.
type incidents map[int64][]incident

type incident struct {
	id   string
	name checker.Name
}

func sameFault(r *checker.Result) incidents {
	same := incidents{}
	for _, name := range byHarm {
		p := property(r, name)
		if p == nil {
			continue
		}
		for _, f := range p.Findings {
			if f.Cause.Fault != 0 {
				same[f.Cause.Fault] = append(same[f.Cause.Fault], incident{f.ID, name})
			}
		}
	}
	return same
}

// others are the first finding of each other property that the fault of f also caused, and how many more there are.
func (same incidents) others(f checker.Finding, of checker.Name) (ids []string, more int) {
	told := map[checker.Name]bool{of: true}
	for _, i := range same[f.Cause.Fault] {
		switch {
		case i.id == f.ID:
		case told[i.name]:
			more++
		default:
			told[i.name] = true
			ids = append(ids, i.id)
		}
	}
	return ids, more
}
