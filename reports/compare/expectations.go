package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rate"
)

// Expectation is what the author of a comparison expects of a cell. It is exact: what it lists has to come, and nothing
// that it does not list may be violated, so that a real double grant cannot hide behind an overlap that was expected.
type Expectation struct {
	Pattern  `json:"-"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Reason   string   `json:"reason"`
	Implicit bool     `json:"implicit,omitempty"` // no entry picks the cell
	Expect   []Wanted `json:"expect"`
	Repeat   int      `json:"-"` // 0: that of the whole
}

// Wanted is what is expected of one property. One verdict has to come: `violation` and `masked` in at least one of the
// runs, `pass` and `n/a` in all. Of several verdicts any will do, in every run: that is for what depends on how operations
// happen to fall, such as an update that is lost only if another client wrote in between. To demand it would make the
// comparison fail at random, and to leave it out would be untrue. A rate is for what comes by chance, in runs enough to tell.
type Wanted struct {
	Property model.Name      `json:"property"`
	Verdicts []model.Verdict `json:"verdicts"`
	Line     int             `json:"line,omitempty"`
	Rate     *rate.Bound     `json:"rate,omitempty"` // of runs in which it is violated, in place of verdicts
}

// Expectable are the verdicts that can be expected. An unknown cannot: it would make every run right.
var Expectable = []model.Verdict{model.Violation, model.Masked, model.Pass, model.NotApplicable}

func (w Wanted) only(v model.Verdict) bool { return len(w.Verdicts) == 1 && w.Verdicts[0] == v }

func (w Wanted) words() string {
	if w.Rate != nil {
		return "rate " + w.Rate.String()
	}
	words := make([]string, len(w.Verdicts))
	for i, v := range w.Verdicts {
		words[i] = string(v)
	}
	return strings.Join(words, " or ")
}

// Words is the expectation in a line.
func (e *Expectation) Words() string {
	if len(e.Expect) == 0 {
		return "no violation"
	}
	words := make([]string, len(e.Expect))
	for i, w := range e.Expect {
		words[i] = string(w.Property) + ": " + w.words()
	}
	return strings.Join(words, ", ")
}

// ProblemKind says how what came differs from what was expected.
type ProblemKind string

// The kinds of problems. Missing and Unexpected are not met; Unknown is neither met nor not.
const (
	Missing    ProblemKind = "missing"
	Unexpected ProblemKind = "unexpected"
	Unknown    ProblemKind = "unknown"
)

// Problem is one difference between an expectation and what came.
type Problem struct {
	Kind     ProblemKind `json:"kind"`
	Property model.Name  `json:"property,omitempty"` // "": of the cell as a whole
	Text     string      `json:"text"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line,omitempty"`
}

// tally is how often each verdict of a property came, and how often in runs that could tell.
type tally struct {
	seen   map[model.Verdict]int
	judged int // in conclusive runs, and not inconclusive itself
}

func tallies(runs []Run) (all map[model.Name]*tally, order []model.Name) {
	all = map[model.Name]*tally{}
	for _, run := range runs {
		for _, p := range run.Properties {
			t := all[p.Name]
			if t == nil {
				t = &tally{seen: map[model.Verdict]int{}}
				all[p.Name], order = t, append(order, p.Name)
			}
			t.seen[p.Verdict]++
			if run.Verdict != model.Inconclusive && p.Verdict != model.Inconclusive {
				t.judged++
			}
		}
	}
	return all, order
}

// words are the verdicts that came, the worst first.
func (t *tally) words() string {
	var words []string
	for _, v := range []model.Verdict{model.Violation, model.Inconclusive, model.Masked, model.NotApplicable, model.Pass} {
		if t.seen[v] > 0 {
			words = append(words, string(v))
		}
	}
	return strings.Join(words, " and ")
}

// Judge holds runs against the expectation. Runs that could not be made say nothing, and are not judged here.
func (e *Expectation) Judge(runs []Run) []Problem { return e.judge(runs, 1) }

// judge is Judge of runs that might have ended after so many looks at their rates.
func (e *Expectation) judge(runs []Run, looks int) (problems []Problem) {
	made := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Error != "" })
	if len(made) == 0 {
		return nil
	}
	all, order := tallies(made)
	listed := map[model.Name]bool{}
	for _, w := range e.Expect {
		listed[w.Property] = true
		t := all[w.Property]
		if t == nil {
			t = &tally{}
		}
		kind, text := w.judge(t, len(made))
		if w.Rate != nil {
			kind, text = w.judgeRate(w.rateOf(made, looks))
		}
		if kind != "" {
			problems = append(problems, Problem{kind, w.Property, text, e.File, w.Line})
		}
	}
	for _, name := range order {
		t := all[name]
		switch {
		case listed[name]:
		case t.seen[model.Violation] > 0:
			problems = append(problems, Problem{Unexpected, name, fmt.Sprintf("%s is violated in %s and not listed as expected", name, ofRuns(t.seen[model.Violation], len(made))), e.File, e.Line})
		case t.seen[model.Inconclusive] > 0:
			problems = append(problems, Problem{Unknown, name, fmt.Sprintf("%s is inconclusive in %s", name, ofRuns(t.seen[model.Inconclusive], len(made))), e.File, e.Line})
		}
	}
	if e.hit(made) {
		return problems // what was waited for came; runs that could not tell take nothing from that
	}
	unknown := slices.DeleteFunc(made, func(r Run) bool { return r.Verdict != model.Inconclusive || e.onlyRatesUnknown(r) })
	if len(unknown) > 0 && len(problems) == 0 {
		text := fmt.Sprintf("%s inconclusive: %s", history.Counted(int64(len(unknown)), "run is", "runs are"), unknown[0].Reason)
		problems = append(problems, Problem{Unknown, "", text, e.File, e.Line})
	}
	return problems
}

func (w Wanted) judge(t *tally, runs int) (ProblemKind, string) {
	came := func(v model.Verdict) string {
		return fmt.Sprintf("%s is %s in %s, expected %s", w.Property, v, ofRuns(t.seen[v], runs), w.words())
	}
	if w.only(model.Violation) || w.only(model.Masked) {
		switch want := w.Verdicts[0]; {
		case want == model.Masked && t.seen[model.Violation] > 0:
			return Unexpected, came(model.Violation)
		case t.seen[want] > 0:
			return "", ""
		case t.judged > 0:
			return Missing, fmt.Sprintf("%s: expected %s did not come in %s; it was %s", w.Property, want,
				history.Counted(int64(t.judged), "run that could tell", "runs that could tell"), t.words())
		default:
			return Unknown, fmt.Sprintf("%s: whether the expected %s comes is unknown: no run could tell", w.Property, want)
		}
	}
	for _, v := range []model.Verdict{model.Violation, model.Masked, model.NotApplicable, model.Pass} {
		if t.seen[v] > 0 && !slices.Contains(w.Verdicts, v) {
			return Unexpected, came(v)
		}
	}
	if t.seen[model.Inconclusive] > 0 || len(t.seen) == 0 {
		return Unknown, fmt.Sprintf("%s: whether it is %s is unknown: %s could not tell", w.Property, w.words(), ofRuns(t.seen[model.Inconclusive], runs))
	}
	return "", ""
}

func ofRuns(n, runs int) string {
	if runs == 1 {
		return "the run"
	}
	return fmt.Sprintf("%d of %d runs", n, runs)
}

// wantsAny reports whether something has to come in any one of the runs.
func (e *Expectation) wantsAny() bool {
	return e != nil && slices.ContainsFunc(e.Expect, func(w Wanted) bool { return w.only(model.Violation) || w.only(model.Masked) })
}

// wantsViolation reports whether the expectation waits for a violation, so that there is a first hit to stop at.
func (e *Expectation) wantsViolation() bool {
	return e != nil && slices.ContainsFunc(e.Expect, func(w Wanted) bool { return w.only(model.Violation) })
}

// hit reports whether the runs have shown every violation, and every masked one, that is waited for.
func (e *Expectation) hit(runs []Run) bool {
	if !e.wantsViolation() {
		return false
	}
	all, _ := tallies(runs)
	for _, w := range e.Expect {
		if !w.only(model.Violation) && !w.only(model.Masked) {
			continue
		}
		if t := all[w.Property]; t == nil || t.seen[w.Verdicts[0]] == 0 {
			return false
		}
	}
	return true
}
