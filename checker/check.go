// Package checker judges the history of a run: histories in, findings out. It reads no clock, no network and no file,
// so that the same recording gives the same verdict on any machine.
package checker

import (
	"errors"
	"iter"

	"lockcheck/checker/history"
)

// Recording is a run as it was recorded. Each sequence is read once, in order, and may end with an error.
type Recording struct {
	Plan     history.Plan
	Events   iter.Seq2[history.Event, error]
	Requests iter.Seq2[history.Request, error]
}

// Options bound the work and choose what is judged.
type Options struct {
	Properties  []Name // nil: all
	MaxFindings int    // stories kept for each property; 0: DefaultMaxFindings
}

// DefaultMaxFindings is how many findings of one property are kept with their stories; all of them are counted.
const DefaultMaxFindings = 50

// ErrDefect marks a recording that can only come from a bug of lockcheck or of a lock client, such as an acknowledged
// write that the resource's log does not hold. It is never a verdict.
var ErrDefect = errors.New("the recording contradicts itself")

// Check judges a recording. The error is one of the sequences' own, or wraps ErrDefect.
func Check(rec Recording, opts Options) (*Result, *Model, error) {
	return nil, nil, errors.New("unwritten")
}
