package gallery

import (
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// Judge says what came of the item's run. If a pod made it and its harness was held up there, what it found counts; what it did not find
// may be missing because of that.
func (i *Item) Judge(half config.Half) {
	i.Outcome, i.Reason = Judge(half, *i.Run)
	if heldUp := i.Run.HeldUp(); i.InPod && heldUp != "" && restsOnAbsence(half, *i.Run, i.Outcome) {
		i.Outcome, i.Reason = Inconclusive, compare.LessTested(heldUp)
	}
}

// restsOnAbsence reports whether an outcome would be another if the run had found more.
func restsOnAbsence(half config.Half, run compare.Run, outcome Outcome) bool {
	switch outcome {
	case Reproduced:
		return !half.ExpectsViolation() || slices.ContainsFunc(half.Expect, func(e config.Expected) bool {
			return !slices.Contains(e.Verdicts, model.Violation) && slices.ContainsFunc(run.Properties, func(p compare.Property) bool { return p.Name == e.Property && p.Verdict == model.Pass })
		})
	case NotReproduced:
		return len(differences(half, run).contradicted) == 0
	}
	return false
}

// HeldUp names the runs of pods whose harness was held up, with their outcomes.
func (r Record) HeldUp() (lines []string) {
	for _, item := range r.Items {
		if item.Run != nil && item.InPod && item.Run.HeldUp() != "" {
			lines = append(lines, item.Name+", "+string(item.Half)+": "+item.Run.HeldUp()+"; "+string(item.Outcome))
		}
	}
	return lines
}
