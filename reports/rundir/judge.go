package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Judgement is a run, judged.
type Judgement struct {
	Plan   history.Plan
	Result *checker.Result
	Model  *checker.Model
}

// Judge reads the directory's files and checks them. An error is an InputError if the files are to blame, and wraps
// checker.ErrDefect if they contradict themselves. Nothing is written. A history that its harness did not close is
// refused: see JudgeSoFar.
//
// With failures read as unknown the recording is judged as recorded, too, and the result says what depends on it.
func (d *Dir) Judge(opts checker.Options) (Judgement, error) {
	return againstRecorded(d.judgeWhole, opts)
}

func (d *Dir) judgeWhole(opts checker.Options) (Judgement, error) {
	plan, err := d.ReadPlan()
	if err != nil {
		return Judgement{}, err
	}
	events, err := d.open(HistoryFile)
	if err != nil {
		return Judgement{}, err
	}
	defer events.Close()
	requests, err := d.open(ResourceFile)
	if err != nil {
		return Judgement{}, err
	}
	defer requests.Close()
	j, err := d.judge(plan, events, requests, opts)
	if err == nil && !j.Model.Closed {
		return Judgement{}, inputErrorf("%s:%d: the file ends here without its end mark: it was cut short, or the harness was killed; --partial judges it as far as it goes",
			events.Name(), j.Model.Lines)
	}
	return j, err
}

// recording is an open file of a run directory.
type recording interface {
	io.Reader
	Name() string
}

func (d *Dir) judge(plan history.Plan, events, requests recording, opts checker.Options) (Judgement, error) {
	result, model, err := checker.Check(checker.Recording{
		Plan:     plan,
		Events:   history.Events(events, events.Name()),
		Requests: history.Requests(requests, requests.Name()),
	}, opts)
	switch {
	case errors.Is(err, checker.ErrClient) && plan.OwnClient():
		return Judgement{}, inputErrorf("the lock client %s breaks the client protocol, so %s cannot be judged: %w; it has to send to the resource what it is asked to, under the number of the operation, and to answer with what the resource answered (clusters/client/README.md)",
			plan.LockClient, d.path, err)
	case errors.Is(err, checker.ErrDefect):
		return Judgement{}, fmt.Errorf("cannot judge %s: %w; this is a bug of lockcheck or of the lock client, please report it with the run directory", d.path, err)
	case errors.Is(err, checker.ErrCut):
		return Judgement{}, inputErrorf("%s: %w", requests.Name(), err)
	case err != nil:
		return Judgement{}, &InputError{err}
	}
	return Judgement{Plan: plan, Result: result, Model: model}, nil
}

// Recorded is how many bytes the recording has; what is not there counts nothing.
func (d *Dir) Recorded() (bytes int64) {
	for _, name := range []string{HistoryFile, ResourceFile} {
		if file, err := os.Stat(d.file(name)); err == nil {
			bytes += file.Size()
		}
	}
	return bytes
}

func (d *Dir) open(name string) (*os.File, error) {
	file, err := os.Open(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, inputErrorf("%s is missing; a run directory holds %s, %s and %s", d.file(name), PlanFile, HistoryFile, ResourceFile)
	}
	if err != nil {
		return nil, inputErrorf("cannot read the recording: %w", err)
	}
	return file, nil
}
