package checker

import (
	"errors"
	"fmt"

	"lockcheck/checker/history"
)

// ErrReading marks Options whose FailedAs is neither fail nor info.
var ErrReading = errors.New("failures cannot be read so")

// OutcomeReading says how the verdicts read what a client reported as certainly not done. What a client calls a failure
// can decide a verdict (a release that failed because its lease was gone may have been reported as failed, or as done),
// so the reading stands in every result.
//
// Read as info, each operation that failed is one of unknown outcome (rule R8): it may have taken effect at any time after its
// invocation, or never. That takes away all that the answer said besides (its code, whose record it acted on), so it
// proves no ownership and no loss (rule R6), refutes no grant, and a try that failed is no evidence (rule R7). Reads and writes stay
// decided all the same, those that a guard held back and those that the resource rejected among them: the resource's log
// knows them (rule R9). Lease reports are no operations, and what the server said in one stays said.
type OutcomeReading struct {
	FailedAs history.Type `json:"failed_as"` // fail or info
	// Recorded is the verdict with failures read as recorded; empty if Contradiction says why there is none. This and
	// what follows are only filled in by Against.
	Recorded      Verdict `json:"verdict_as_recorded,omitempty"`
	Contradiction string  `json:"contradiction_as_recorded,omitempty"`
	// Depends reports whether the two readings come to different verdicts of the run; nil if only one was judged.
	Depends *bool `json:"depends,omitempty"`
	// Changed are the properties whose verdicts differ, whether or not the run's does.
	Changed []ReadingChange `json:"changed,omitempty"`
}

// ReadingChange is a property that comes to different verdicts under two readings.
type ReadingChange struct {
	Property Name    `json:"property"`
	Verdict  Verdict `json:"verdict"`
	Recorded Verdict `json:"verdict_as_recorded"`
}

func readingOf(opts Options) (OutcomeReading, error) {
	switch opts.FailedAs {
	case "", history.Fail:
		return OutcomeReading{FailedAs: history.Fail}, nil
	case history.Info:
		return OutcomeReading{FailedAs: history.Info}, nil
	}
	return OutcomeReading{}, fmt.Errorf("%w: %q; they are read as %s (certainly not done) or %s (unknown)", ErrReading, opts.FailedAs, history.Fail, history.Info)
}

// Against says in r's reading what depends on it: recorded is the same recording judged with failures read as recorded,
// or nil and the ErrDefect that this came to. Such a contradiction is one of the recording's (a failure that the
// resource's log knows to have happened) and depends on the reading, too; any other error is not to be passed here.
func (r *Result) Against(recorded *Result, contradiction error) {
	depends := true
	if recorded == nil {
		r.OutcomeReading.Contradiction = contradiction.Error()
	} else {
		r.OutcomeReading.Recorded, depends = recorded.Verdict, recorded.Verdict != r.Verdict
		for _, p := range r.Properties {
			if q := recorded.Property(p.Name); q != nil && q.Verdict != p.Verdict {
				r.OutcomeReading.Changed = append(r.OutcomeReading.Changed, ReadingChange{p.Name, p.Verdict, q.Verdict})
			}
		}
	}
	r.OutcomeReading.Depends = &depends
}

// Property is what was found of one property; nil if it was not asked for.
func (r *Result) Property(name Name) *Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// read is a completion as the reading has it.
func (b *builder) read(e *history.Event) {
	if b.failedAs == history.Info && e.Type == history.Fail {
		e.Type, e.Code, e.Owned = history.Info, "", nil
	}
}
