package reports

import (
	"errors"
	"fmt"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// againstRecorded judges with the outcomes read as opts asks, and again as they were recorded where that is another
// reading, so that the result can say what depends on it.
func againstRecorded(judge func(checker.Options) (Judgement, error), opts checker.Options) (Judgement, error) {
	j, err := judge(opts)
	if err != nil || opts.FailedAs != history.Info {
		return j, err
	}
	opts.FailedAs, opts.MaxFindings = history.Fail, 1
	recorded, err := judge(opts)
	switch {
	case errors.Is(err, checker.ErrDefect) && !errors.Is(err, checker.ErrDisagreement):
		j.Result.Against(nil, err)
	case err != nil:
		return Judgement{}, err
	default:
		j.Result.Against(recorded.Result, nil)
	}
	return j, nil
}

// readingDir is where another reading of a run is kept: beside the run's own results, which are of what was recorded.
const readingDir = "failed-as-info"

// ForReading is where the judgement of another reading of the run is published.
func (d *Dir) ForReading() *Dir { return &Dir{path: d.file(readingDir), recorded: d} }

// readingWords say how failures were read and what depends on it; "" where they were read as recorded.
func readingWords(r checker.OutcomeReading) string {
	if r.FailedAs != history.Info {
		return ""
	}
	words := "operations that failed are read as unknown"
	switch {
	case r.Depends == nil:
		return words
	case r.Contradiction != "":
		return words + "; as recorded, the recording contradicts itself"
	case *r.Depends:
		return words + "; the verdict depends on it: as recorded it is " + string(r.Recorded)
	case len(r.Changed) > 0:
		c := r.Changed[0]
		more := ""
		if n := int64(len(r.Changed)); n > 1 {
			more = fmt.Sprintf(" (and %s)", plural(n-1, "other differs", "others differ"))
		}
		return words + fmt.Sprintf("; the verdict of the run does not depend on it, but %s is %s as recorded and %s here", c.Property, c.Recorded, c.Verdict) + more
	}
	return words + "; no verdict depends on it"
}
