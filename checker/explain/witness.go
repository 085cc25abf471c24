package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Witness is the part of a recording that proves one finding by itself: an excerpt that Check judges the same way. Its
// lines are those of the whole, only their Index and Seq are counted anew.
type Witness struct {
	Finding  string // its ID
	Plan     history.Plan
	Events   []history.Event
	Requests []history.Request
	// Missing says why there is none; all but Finding is empty then.
	Missing string
}

// Bounds of the search for witnesses. They count, so that the same run gives the same witnesses on every machine.
const (
	// MaxWitnesses is for how many findings of one property a witness is looked for: those that are told first.
	MaxWitnesses = 3
	// maxGathered is from how many lines a witness is made, MaxWitnessLines how many it may have in the end.
	maxGathered     = 20_000
	MaxWitnessLines = 2_000
	// maxJudged is how many lines are judged, over and over again, to make one of them small.
	maxJudged = 1_000_000
)

// Recording is what Check takes.
func (w *Witness) Recording() model.Recording {
	return model.Recording{
		Plan: w.Plan,
		Events: func(yield func(history.Event, error) bool) {
			for _, e := range w.Events {
				if !yield(e, nil) {
					return
				}
			}
		},
		Requests: func(yield func(history.Request, error) bool) {
			for _, q := range w.Requests {
				if !yield(q, nil) {
					return
				}
			}
		},
	}
}

// FindWitnesses makes a witness for the first findings of every property that is violated (see checker.Witnesses). Check judges one as the
// whole recording was judged.
func FindWitnesses(rec model.Recording, result *model.Result, m *model.Model, check func(*Witness) (*model.Result, error)) ([]Witness, error) {
	if rec.Plan.Excerpt != nil {
		return nil, nil // it is one
	}
	var searches []*witnessSearch
	var witnesses []Witness // in the order of the findings
	for _, p := range result.Properties {
		if p.Verdict != model.Violation {
			continue
		}
		for i := range p.Findings[:min(len(p.Findings), MaxWitnesses)] {
			f := &p.Findings[i]
			w := Witness{Finding: f.ID}
			if p.Name == model.ResourceIntegrity { // no part of a run can prove it
				w.Missing = "what a resource's log lacks or contradicts only the whole log shows"
			} else {
				searches = append(searches, &witnessSearch{property: p.Name, finding: f, model: m, check: check, place: len(witnesses)})
			}
			witnesses = append(witnesses, w)
		}
	}
	for _, reach := range reaches {
		var open []*gathering
		for _, s := range searches {
			if s.found == nil {
				open = append(open, s.gathering(reach))
			}
		}
		if len(open) == 0 {
			break
		}
		if err := gather(rec, open); err != nil {
			return nil, err
		}
		for _, g := range open {
			g.search.look(g)
		}
	}
	for _, s := range searches {
		witnesses[s.place] = s.witness()
	}
	return witnesses, nil
}

// reach is how much of the run a witness is made from. The nearest comes first; what it lacks the next may have.
type reach int

const (
	reachHolds reach = iota // the holds that the finding names
	reachNear               // and those of the same lock that lasted while it happened
	reachLock               // the lock's whole life
)

var reaches = []reach{reachHolds, reachNear, reachLock}

// witnessSearch looks for the witness of one finding.
type witnessSearch struct {
	property model.Name
	finding  *model.Finding
	model    *model.Model
	check    func(*Witness) (*model.Result, error)
	place    int // of its witness
	found    *Witness
	why      string // there is none so far
}

func (s *witnessSearch) witness() Witness {
	if s.found == nil {
		return Witness{Finding: s.finding.ID, Missing: s.why}
	}
	return *s.found
}

// look makes a witness from what was gathered, if that is enough.
func (s *witnessSearch) look(g *gathering) {
	if g.overflown {
		s.why = fmt.Sprintf("what it may rest on has more than %d lines", maxGathered)
		return
	}
	r := newReducer(s, g)
	if !r.start() {
		if s.why == "" {
			s.why = "no part of the run comes to the same finding by itself"
		}
		return
	}
	r.reduce()
	w := r.assemble()
	if lines := len(w.Events) + len(w.Requests); lines > MaxWitnessLines {
		s.why = fmt.Sprintf("the smallest part of the run that was found to prove it has %d lines", lines)
		return
	}
	s.found = w
}

// shows reports whether a witness comes to the finding it is made for.
func (s *witnessSearch) shows(w *Witness) bool {
	result, err := s.check(w)
	if err != nil {
		return false
	}
	p := result.Property(s.property)
	return p != nil && p.Verdict == model.Violation && slices.ContainsFunc(p.Findings, func(f model.Finding) bool { return s.same(&f, w.Plan.Excerpt) })
}

// same compares what a finding claims; in an excerpt the value that a register begins with is the initial one.
func (s *witnessSearch) same(f *model.Finding, x *history.Excerpt) bool {
	want := s.finding
	summary := want.Summary
	if value := x.Initial[f.Key]; value != "" {
		summary = strings.ReplaceAll(summary, value, model.ValueName(""))
	}
	return f.Key == want.Key && slices.Equal(f.Holds, want.Holds) && f.AtNS == want.AtNS && f.FromNS == want.FromNS && f.ToNS == want.ToNS &&
		f.Summary == summary && f.Cause.Is(want.Cause) && f.Unavoidable == want.Unavoidable
}

// unnamed reports whether a finding is about all holds there were, and names none.
func unnamed(f *model.Finding) bool { return len(f.Holds) == 0 }
