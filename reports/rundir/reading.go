package rundir

import (
	"errors"

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

// ReadingFolder is the folder of a run directory in which another reading of the run is kept: beside the run's own results, which are of what was recorded.
const ReadingFolder = "failed-as-info"

// ForReading is where the judgement of another reading of the run is published.
func (d *Dir) ForReading() *Dir { return &Dir{path: d.file(ReadingFolder), recorded: d} }
