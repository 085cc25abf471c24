package gallery

import (
	"fmt"
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rate"
)

// judge says what came of a run of the item. If a pod made it and its harness was held up there, what it found counts; what it did not find
// may be missing because of that.
func (i Item) judge(half config.Half, run compare.Run) (Outcome, string) {
	outcome, reason := Judge(half, run)
	if heldUp := run.HeldUp(); i.InPod && heldUp != "" && restsOnAbsence(half, run, outcome) {
		return Inconclusive, compare.LessTested(heldUp)
	}
	return outcome, reason
}

// Take takes the runs that were made of the item, in the order of their seeds, and says what came of them. A failure was reproduced if one of several
// runs shows it, and a contrast if all do: until they are made that is not known.
func (i *Item) Take(half config.Half, runs []compare.Run) {
	i.Run, i.Outcome, i.Reason = nil, NotRun, ""
	any := half.ExpectsViolation()
	var reproduced, conclusive int
	for n := range runs {
		outcome, reason := i.judge(half, runs[n])
		switch outcome {
		case Reproduced:
			reproduced, conclusive = reproduced+1, conclusive+1
		case NotReproduced:
			conclusive++
		}
		before, now := i.rank(), Item{Outcome: outcome, Run: &runs[n]}.rank()
		if i.Run == nil || any && outcome == Reproduced && i.Outcome != Reproduced || now > before && !(any && i.Outcome == Reproduced) {
			i.Run, i.Outcome, i.Reason = &runs[n], outcome, reason
		}
	}
	if i.Repeated == nil {
		return
	}
	i.Repeated.Runs, i.Repeated.Reproduced, i.Repeated.Conclusive = runs, reproduced, conclusive
	i.Repeated.Share = i.Repeated.rate().Share()
	i.Repeated.ShareLow, i.Repeated.ShareHigh = i.Repeated.rate().Interval()
	certain := any == (i.Outcome == Reproduced)
	if missing := i.Repeated.Planned - len(runs); missing > 0 && !certain && !i.Repeated.over() && (i.Outcome == Reproduced || i.Outcome == NotReproduced) {
		i.Outcome, i.Reason = NotRun, fmt.Sprintf("%d of %d runs are missing", missing, i.Repeated.Planned)
	}
}

// Rate is how often a half is reproduced by runs of which so many may be made until that is known to within a half width.
func (i Item) Rate(half config.Half, runs []compare.Run) rate.Rate {
	i.Repeated = &Repeated{Planned: i.Repeated.Planned, UntilKnown: i.Repeated.UntilKnown}
	i.Take(half, runs)
	return i.Repeated.rate()
}

// rank is that of the item's exit code.
func (i Item) rank() int {
	_, rank := i.code()
	return rank
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
		for _, run := range item.runs() {
			if item.InPod && run.HeldUp() != "" {
				lines = append(lines, item.Name+", "+string(item.Half)+": "+run.HeldUp()+"; "+string(item.Outcome))
			}
		}
	}
	return lines
}
