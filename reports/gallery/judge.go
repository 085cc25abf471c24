// Package gallery says what came of scenarios, known failures of locks: whether each was reproduced, and how that is kept and shown.
// It starts nothing.
package gallery

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// Outcome is what came of one half of a scenario.
type Outcome string

// The outcomes. A contrast is reproduced, too, when what its file expects of it came.
const (
	Reproduced    Outcome = "reproduced"
	NotReproduced Outcome = "not reproduced"
	Inconclusive  Outcome = "inconclusive"
	Unavailable   Outcome = "unavailable" // something that it needs is not here
	Failed        Outcome = "failed"      // the run ended with an error of another kind
	NotRun        Outcome = "not run"
)

// Exit codes of runs that came to no verdict, as the README promises them.
const (
	exitUnavailable = 69
	exitDefect      = 70
	exitInterrupted = 130
)

// Judge says what came of a run of one half, and why it is not reproduced; "" if it is.
func Judge(half config.Half, run compare.Run) (Outcome, string) {
	switch {
	case run.Error != "" && run.ExitCode == exitUnavailable:
		return Unavailable, run.Error
	case run.Error != "" && run.ExitCode == exitInterrupted:
		return NotRun, run.Error
	case run.Error != "":
		return Failed, run.Error
	}
	d := differences(half, run)
	switch {
	case len(d.contradicted) > 0:
		return NotReproduced, strings.Join(d.contradicted, "; ")
	case len(d.absent) > 0 && len(d.unexposed) > 0:
		return Inconclusive, strings.Join(slices.Concat(d.absent, d.unexposed), "; ")
	case len(d.absent) > 0 && run.Verdict != model.Inconclusive:
		return NotReproduced, strings.Join(d.absent, "; ")
	case run.Verdict == model.Inconclusive:
		return Inconclusive, strings.Join(append(d.absent, run.Reason), "; ")
	case len(d.unknown) > 0:
		return Inconclusive, strings.Join(d.unknown, "; ")
	}
	return Reproduced, ""
}

// difference is how a run differs from what its half expects.
type difference struct {
	contradicted []string // a violation came that must not: certain, whatever did not happen in the run
	absent       []string // what was expected did not come
	unknown      []string // the run cannot tell
	unexposed    []string // what had to happen for the run to have shown anything, and did not
}

// differences holds a run against its half. Where a violation is expected its consequences are no difference: which other properties break
// with it depends on how operations happen to fall. A run that must not fail must not fail in any property.
func differences(half config.Half, run compare.Run) (d difference) {
	listed := map[model.Name]bool{}
	for _, e := range half.Expect {
		listed[e.Property] = true
		i := slices.IndexFunc(run.Properties, func(p compare.Property) bool { return p.Name == e.Property })
		if i < 0 {
			d.absent = append(d.absent, fmt.Sprintf("%s was not judged, expected %s", e.Property, verdicts(e)))
			continue
		}
		p := run.Properties[i]
		text := fmt.Sprintf("%s is %s, expected %s", p.Name, p.Verdict, verdicts(e))
		switch {
		case slices.Contains(e.Verdicts, p.Verdict):
			if e.Cause != "" && !slices.Contains(p.Causes, e.Cause) {
				d.absent = append(d.absent, fmt.Sprintf("%s is put down to %s, expected %s", p.Name, orUnknown(strings.Join(p.Causes, ", ")), e.Cause))
			}
		case p.Verdict == model.Violation:
			d.contradicted = append(d.contradicted, text)
		case p.Verdict == model.Inconclusive:
			d.unknown = append(d.unknown, text)
		default:
			d.absent = append(d.absent, text)
		}
	}
	for _, p := range run.Properties {
		switch {
		case listed[p.Name] || half.ExpectsViolation():
		case p.Verdict == model.Violation:
			d.contradicted = append(d.contradicted, fmt.Sprintf("%s is violated, expected no violation", p.Name))
		case p.Verdict == model.Inconclusive:
			d.unknown = append(d.unknown, fmt.Sprintf("%s is inconclusive", p.Name))
		}
	}
	for _, e := range run.Exposure {
		if e.Count < e.Min {
			d.unexposed = append(d.unexposed, fmt.Sprintf("%s: %d, at least %d required", e.Name, e.Count, e.Min))
		}
	}
	return d
}

// verdicts is what is expected of one property, such as "pass or violation".
func verdicts(e config.Expected) string {
	all := make([]string, len(e.Verdicts))
	for i, v := range e.Verdicts {
		all[i] = string(v)
	}
	return strings.Join(all, " or ")
}

// Expects is what a half expects, in a line.
func Expects(half config.Half) string {
	if len(half.Expect) == 0 {
		return "no violation"
	}
	all := make([]string, len(half.Expect))
	for i, e := range half.Expect {
		all[i] = fmt.Sprintf("%s: %s", e.Property, verdicts(e))
		if e.Cause != "" {
			all[i] += " by " + e.Cause
		}
	}
	return strings.Join(all, ", ")
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
