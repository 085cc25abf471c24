package checker

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
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
	// maxGathered is from how many lines a witness is made, maxWitness how many it may have in the end.
	maxGathered = 20_000
	maxWitness  = 2_000
	// maxJudged is how many lines are judged, over and over again, to make one of them small.
	maxJudged = 1_000_000
)

// Recording is what Check takes.
func (w *Witness) Recording() Recording {
	return Recording{
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

// Witnesses makes a witness for the first findings of every property that is violated. Rec is the recording that Check
// judged with these options, coming to this result and model; unlike there its sequences are ranged over several times,
// and have to begin anew each time.
//
// A witness is not believed because of how it was made. It is judged, and has to come to the very finding that it is made
// for: the same holds, at the same moment, in the same words, with the same cause. So a line that is missing can never make
// it say what the whole run does not; and what it can do without is found by leaving it out.
//
// The error is one of the sequences' own. A finding without a witness is no error: see Witness.Missing.
func Witnesses(rec Recording, result *Result, m *Model, opts Options) ([]Witness, error) {
	if rec.Plan.Excerpt != nil {
		return nil, nil // it is one
	}
	var searches []*witnessSearch
	var witnesses []Witness // in the order of the findings
	for _, p := range result.Properties {
		if p.Verdict != Violation {
			continue
		}
		for i := range p.Findings[:min(len(p.Findings), MaxWitnesses)] {
			f := &p.Findings[i]
			w := Witness{Finding: f.ID}
			if p.Name == ResourceIntegrity { // no part of a run can prove it
				w.Missing = "what a resource's log lacks or contradicts only the whole log shows"
			} else {
				searches = append(searches, &witnessSearch{property: p.Name, finding: f, model: m, failedAs: opts.FailedAs, place: len(witnesses)})
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
	property Name
	finding  *Finding
	model    *Model
	failedAs history.Type
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
	if lines := len(w.Events) + len(w.Requests); lines > maxWitness {
		s.why = fmt.Sprintf("the smallest part of the run that was found to prove it has %d lines", lines)
		return
	}
	s.found = w
}

// shows reports whether a witness comes to the finding it is made for.
func (s *witnessSearch) shows(w *Witness) bool {
	result, _, err := Check(w.Recording(), Options{FailedAs: s.failedAs, MaxFindings: maxWitness})
	if err != nil {
		return false
	}
	p := result.Property(s.property)
	return p != nil && p.Verdict == Violation && slices.ContainsFunc(p.Findings, func(f Finding) bool { return s.same(&f, w.Plan.Excerpt) })
}

// same compares what a finding claims; in an excerpt the value that a register begins with is the initial one.
func (s *witnessSearch) same(f *Finding, x *history.Excerpt) bool {
	want := s.finding
	summary := want.Summary
	if value := x.Initial[f.Key]; value != "" {
		summary = strings.ReplaceAll(summary, value, valueName(""))
	}
	return f.Key == want.Key && slices.Equal(f.Holds, want.Holds) && f.AtNS == want.AtNS && f.FromNS == want.FromNS && f.ToNS == want.ToNS &&
		f.Summary == summary && f.Cause.is(want.Cause) && f.Unavoidable == want.Unavoidable
}

// unnamed reports whether a finding is about all holds there were, and names none.
func (f *Finding) unnamed() bool { return len(f.Holds) == 0 }
