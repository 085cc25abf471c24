package checker

import (
	"errors"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Options bound the work and choose what is judged.
type Options struct {
	Properties  []model.Name // nil: all
	MaxFindings int          // stories kept for each property; 0: DefaultMaxFindings
	// FailedAs is how operations that failed are read: history.Fail, which is the zero value's meaning, or history.Info.
	FailedAs history.Type
	// Unconfirmed leaves Porcupine out: the exact algorithms alone judge, confirmed_by stays empty, and failed tries that
	// only a search could explain are inconclusive.
	Unconfirmed bool
	// SoFar judges a recording that is not closed as far as it goes: only findings that no later line can excuse are reported.
	SoFar bool
}

// DefaultMaxFindings is how many findings of one property are kept with their stories; all of them are counted.
const DefaultMaxFindings = 50

// ErrUnknownProperty marks a name in Options that no property has. The message lists those there are.
var ErrUnknownProperty = errors.New("unknown property")

// ErrReading marks Options whose FailedAs is neither fail nor info.
var ErrReading = errors.New("failures cannot be read so")

func readingOf(opts Options) (model.OutcomeReading, error) {
	switch opts.FailedAs {
	case "", history.Fail:
		return model.OutcomeReading{FailedAs: history.Fail}, nil
	case history.Info:
		return model.OutcomeReading{FailedAs: history.Info}, nil
	}
	return model.OutcomeReading{}, fmt.Errorf("%w: %q; they are read as %s (certainly not done) or %s (unknown)", ErrReading, opts.FailedAs, history.Fail, history.Info)
}
