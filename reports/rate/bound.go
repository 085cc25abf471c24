package rate

import (
	"fmt"
	"regexp"
	"strconv"
)

// Bound is what a rate is expected to be: at least, or at most, something.
type Bound struct {
	text  string // as it was written
	least bool   // else most
	share float64
}

// BoundPattern is the form of a bound.
const BoundPattern = `^(>=?|<=?) *([0-9]*\.?[0-9]+)$`

var boundForm = regexp.MustCompile(BoundPattern)

// ParseBound reads ">=0.8" or "<=0.05". Its error is for what is no such bound, and for one that the most runs of a cell cannot decide, whatever they show.
func ParseBound(text string) (Bound, error) {
	parts := boundForm.FindStringSubmatch(text)
	if parts == nil {
		return Bound{}, fmt.Errorf(`%q is no rate: write ">=0.8" for at least 80 %% of the runs, or "<=0.05"`, text)
	}
	share, err := strconv.ParseFloat(parts[2], 64)
	if err != nil {
		return Bound{}, fmt.Errorf("%q: %w", text, err)
	}
	b := Bound{text, parts[1][0] == '>', share}
	if share <= 0 || share >= 1 {
		return b, fmt.Errorf("no number of runs decides a rate of %s: use a number between 0 and 1, or a verdict for always or never", text)
	}
	for _, hits := range []int{0, MaxRuns} {
		if b.Judge(Rate{Hits: hits, Runs: MaxRuns}) == Undecided {
			return b, fmt.Errorf("a cell has at most %d runs, and not even %d of %d decide a rate of %s: use a number further from 0 and 1", MaxRuns, hits, MaxRuns, text)
		}
	}
	return b, nil
}

func (b Bound) String() string { return b.text }

// MarshalText is the bound as it was written.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.text), nil }

// UnmarshalText reads what MarshalText wrote; it was checked when it was read first.
func (b *Bound) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBound(string(text))
	return err
}

// AtLeast reports whether the bound is a lower one.
func (b Bound) AtLeast() bool { return b.least }

// Answer is whether a bound is met.
type Answer string

// The answers.
const (
	Met       Answer = "met"
	NotMet    Answer = "not met"
	Undecided Answer = "undecided"
)

// Judge holds a rate against the bound: the whole interval has to be on one side.
func (b Bound) Judge(r Rate) Answer {
	low, high := r.Interval()
	switch {
	case b.least && low >= b.share, !b.least && high <= b.share:
		return Met
	case b.least && high < b.share, !b.least && low > b.share:
		return NotMet
	}
	return Undecided
}

// RunsToDecide is about how many runs that can tell would decide, if the rate stays as it was seen; 0 for more than can be made, and if none was seen.
func (b Bound) RunsToDecide(r Rate) int {
	if r.Runs == 0 {
		return 0
	}
	return r.runs(func(more Rate) bool { return b.Judge(more) != Undecided })
}
