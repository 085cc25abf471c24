package harness

import (
	"errors"
	"fmt"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
	"lockcheck/reports/rundir"
)

// Judge checks what a run directory holds, from its files alone. An error is a rundir.InputError if the files are to blame, and wraps
// model.ErrDefect if they contradict themselves. Nothing is written. A history that its harness did not close is refused: see JudgeSoFar.
//
// With failures read as unknown the recording is judged as recorded, too, and the result says what depends on it.
func Judge(dir *rundir.Dir, opts checker.Options) (rundir.Judgement, error) {
	return againstRecorded(opts, func(opts checker.Options) (rundir.Judgement, error) {
		recording, shut, err := dir.OpenRecording()
		if err != nil {
			return rundir.Judgement{}, err
		}
		defer shut()
		j, err := judge(dir, recording, opts)
		if err == nil && !j.Model.Closed {
			return rundir.Judgement{}, inputError("%s:%d: the file ends here without its end mark: it was cut short, or the harness was killed; --partial judges it as far as it goes",
				dir.HistoryPath(), j.Model.Lines)
		}
		return j, err
	})
}

// JudgeSoFar judges what there is of a recording that still goes on, or whose harness was killed: whole lines only, and
// without asking for its end. Such a recording can show a violation; it can never show that there is none. What a line
// that is recorded later may excuse is not told (see checker/property/unfinishedrun.go), so a count of findings never goes back while a run
// goes on. Options mean what they mean to Judge.
func JudgeSoFar(dir *rundir.Dir, opts checker.Options) (rundir.Judgement, error) {
	opts.SoFar = true
	return againstRecorded(opts, func(opts checker.Options) (rundir.Judgement, error) {
		recording, shut, err := dir.OpenRecordingSoFar()
		if err != nil {
			return rundir.Judgement{}, err
		}
		defer shut()
		return judge(dir, recording, opts)
	})
}

// judgeOwn judges the run that was just made: its files are our own, so any mistake in them is a defect, but for those of a client of the
// user's.
func judgeOwn(dir *rundir.Dir) (rundir.Judgement, error) {
	j, err := Judge(dir, checker.Options{})
	if errors.Is(err, model.ErrClient) {
		err = AsUsage(err)
	}
	return j, err
}

func judge(dir *rundir.Dir, recording model.Recording, opts checker.Options) (rundir.Judgement, error) {
	result, m, err := checker.Check(recording, opts)
	switch plan := recording.Plan; {
	case errors.Is(err, model.ErrClient) && plan.OwnClient():
		err = inputError("the lock client %s breaks the client protocol, so %s cannot be judged: %w; it has to send to the resource what it is asked to, under the number of the operation, and to answer with what the resource answered (clusters/client/README.md)",
			plan.LockClient, dir.Path(), err)
	case errors.Is(err, model.ErrDefect):
		err = fmt.Errorf("cannot judge %s: %w; this is a bug of lockcheck or of the lock client, please report it with the run directory", dir.Path(), err)
	case errors.Is(err, model.ErrCut):
		err = inputError("%s: %w", dir.ResourcePath(), err)
	case err != nil:
		err = &rundir.InputError{Err: err}
	}
	if err != nil {
		return rundir.Judgement{}, err
	}
	return rundir.Judgement{Plan: recording.Plan, Result: result, Model: m}, nil
}

func inputError(format string, args ...any) error {
	return &rundir.InputError{Err: fmt.Errorf(format, args...)}
}

// againstRecorded judges with the outcomes read as opts asks, and again as they were recorded where that is another
// reading, so that the result can say what depends on it.
func againstRecorded(opts checker.Options, judge func(checker.Options) (rundir.Judgement, error)) (rundir.Judgement, error) {
	j, err := judge(opts)
	if err != nil || opts.FailedAs != history.Info {
		return j, err
	}
	opts.FailedAs, opts.MaxFindings = history.Fail, 1
	recorded, err := judge(opts)
	switch {
	case errors.Is(err, model.ErrDefect) && !errors.Is(err, property.ErrDisagreement):
		j.Result.Against(nil, err)
	case err != nil:
		return rundir.Judgement{}, err
	default:
		j.Result.Against(recorded.Result, nil)
	}
	return j, nil
}
