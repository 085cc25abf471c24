package compare

import (
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// FlagUntil is the flag of lockcheck run that ends the load once something was found.
const FlagUntil = "until"

// endsOnceFound fits --until to a cell. Its run may end early only where nothing but violations is expected, and only once
// each of them was found: one that is missing because the run ended would be a false alarm, and so would be a pass of what
// should have had the whole time to fail. That all has happened which a run requires (exposed) shows neither.
func endsOnceFound(flags []Flag, expect *Expectation) []Flag {
	at := slices.IndexFunc(flags, func(f Flag) bool { return f.Name == FlagUntil })
	if at < 0 || flags[at].Value == "" {
		return flags
	}
	names, all := expect.violations()
	if !all || flags[at].Value == history.UntilExposed {
		return slices.Delete(flags, at, at+1)
	}
	for _, name := range strings.Split(flags[at].Value, ",") {
		if name != history.UntilViolation && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	flags[at].Value = strings.Join(names, ",")
	return flags
}

func withoutUntil(flags []Flag) []Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f Flag) bool { return f.Name == FlagUntil })
}

// EndsOnceFound reports whether the load of the task's runs ends once what is expected of them was found.
func (t Task) EndsOnceFound() bool {
	return slices.ContainsFunc(t.Flags, func(f Flag) bool { return f.Name == FlagUntil && f.Value != "" })
}

// untilNote names the cells whose runs may have ended early: their figures are of less time than those of others.
func (c *Comparison) untilNote() []string {
	var cells []string
	for _, b := range c.Basis.Cells {
		if (Task{Flags: b.Flags}).EndsOnceFound() {
			cells = append(cells, b.Cell.String())
		}
	}
	if len(cells) == 0 {
		return nil
	}
	return []string{"the load of a run ended once what has to come was found, so that its figures may be of less time: " + strings.Join(cells, ", ")}
}

// violations are the properties of which a violation has to come. It is false unless there are some, all of them can be known
// while a run goes on, and everything else that is expected comes out right wherever the run ends: either of violation and pass.
func (e *Expectation) violations() (names []string, all bool) {
	if e == nil {
		return nil, false
	}
	for _, w := range e.Expect {
		switch {
		case w.only(model.Violation) && slices.Contains(checker.FoundEarly(), w.Property):
			names = append(names, string(w.Property))
		case !slices.Contains(w.Verdicts, model.Violation) || !slices.Contains(w.Verdicts, model.Pass):
			return nil, false
		}
	}
	return names, len(names) > 0
}
