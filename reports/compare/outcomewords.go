package compare

import (
	"fmt"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

// face is how an outcome is shown. The gate's view comes first: a violation that was expected is as it should be, and a pass
// that should have been a violation is not.
func (r Result) face() words.Face {
	switch r.Outcome {
	case Met:
		return words.FaceOf(model.Pass)
	case Unmet:
		return words.FaceOf(model.Violation)
	case NotRun:
		return words.FaceOf(model.NotApplicable)
	}
	return words.FaceOf(model.Inconclusive)
}

// standing is the outcome in words.
func (r Result) standing() string {
	switch r.Outcome {
	case Met:
		if r.Expectation == nil {
			return "passed"
		}
		return "as expected"
	case Unmet:
		return strings.Join(r.kinds(), ", ")
	case Failed:
		if r.Made > 0 {
			return fmt.Sprintf("%d of %s not made", len(r.Runs)-r.Made, history.Counted(int64(len(r.Runs)), "run", "runs"))
		}
		return "could not be run"
	case NotRun:
		return "not run"
	}
	return "inconclusive"
}

// kinds are in what ways a cell is not as it should be.
func (r Result) kinds() (kinds []string) {
	for _, kind := range []ProblemKind{Unexpected, Missing} {
		for _, p := range r.Problems {
			if p.Kind == kind {
				kinds = append(kinds, string(kind))
				break
			}
		}
	}
	if kinds == nil {
		return []string{"violated"}
	}
	return kinds
}

// LayerMark is what came of a layer in all runs of a cell.
type LayerMark struct {
	Layer   model.Layer
	Verdict model.Verdict // the worst of its properties: violation, inconclusive, masked, pass, or n/a
}

// Symbol is its mark beside the word.
func (m LayerMark) Symbol() string { return markOf(m.Verdict) }

// markOf is the shape of a verdict where ✓ and ✗, which are the gate's, would say whether it was to be so.
func markOf(v model.Verdict) string {
	switch v {
	case model.Violation:
		return "●"
	case model.Masked:
		return "◐"
	case model.Inconclusive:
		return "?"
	case model.NotApplicable:
		return "–"
	}
	return "○"
}

// Words is what the mark means.
func (m LayerMark) Words() string {
	switch m.Verdict {
	case model.Violation:
		return map[model.Layer]string{model.LayerService: "the service broke a promise", model.LayerBelief: "two clients believed at once", model.LayerHarm: "the data was harmed"}[m.Layer]
	case model.Masked:
		return "two clients believed at once, and fencing, compare-and-set or idempotency keys kept it from the data"
	case model.Inconclusive:
		return "not known"
	case model.NotApplicable:
		return "not judged"
	}
	return "nothing was found"
}

// worseVerdicts are verdicts of properties, the worst first.
var worseVerdicts = []model.Verdict{model.Violation, model.Inconclusive, model.Masked, model.Pass, model.NotApplicable}

// Layers says which layer failed, over all runs that were made.
func (r Result) Layers() (marks []LayerMark) {
	for _, layer := range model.Layers {
		mark := LayerMark{layer, model.NotApplicable}
		for _, worse := range worseVerdicts {
			if r.has(layer, worse) {
				mark.Verdict = worse
				break
			}
		}
		marks = append(marks, mark)
	}
	return marks
}

func (r Result) has(layer model.Layer, verdict model.Verdict) bool {
	for _, run := range r.Runs {
		for _, p := range run.Properties {
			if run.Error == "" && p.Verdict == verdict && checker.Describe(p.Name).Layer == layer {
				return true
			}
		}
	}
	return false
}

// layerWords are the three marks: "● service ● belief ○ harm".
func layerWords(marks []LayerMark) string {
	parts := make([]string, len(marks))
	for i, m := range marks {
		parts[i] = m.Symbol() + " " + string(m.Layer)
	}
	return strings.Join(parts, " ")
}

// layerNote explains the marks.
const layerNote = "marks: ● failed, ◐ masked by fencing, compare-and-set or idempotency keys, ○ nothing found, ? not known, – not judged; service: it granted twice, ended a lease early or broke another promise; " +
	"belief: two clients believed at once; harm: it reached the data"
