package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Judgement is a run, judged.
type Judgement struct {
	Plan   history.Plan
	Result *model.Result
	Model  *model.Model
}

// OpenRecording opens the recording of a run that is over, to be read once. Errors are InputErrors.
func (d *Dir) OpenRecording() (r model.Recording, shut func(), err error) {
	return d.openRecording(d.open)
}

// OpenRecordingSoFar opens what there is of a recording that still goes on, or whose harness was killed: whole lines only.
func (d *Dir) OpenRecordingSoFar() (r model.Recording, shut func(), err error) {
	return d.openRecording(d.openWhole)
}

func (d *Dir) openRecording(open func(name string) (opened, error)) (r model.Recording, shut func(), err error) {
	if r.Plan, err = d.ReadPlan(); err != nil {
		return r, nil, err
	}
	// The history's end is taken before the log's: the resource logs a request before it answers, so every answer that
	// the history holds by then is in the log.
	events, err := open(HistoryFile)
	if err != nil {
		return r, nil, err
	}
	requests, err := open(ResourceFile)
	if err != nil {
		events.file.Close()
		return r, nil, err
	}
	r.Events, r.Requests = history.Events(events, events.file.Name()), history.Requests(requests, requests.file.Name())
	return r, func() { events.file.Close(); requests.file.Close() }, nil
}

// opened is a file of a recording, up to where it is to be read.
type opened struct {
	io.Reader
	file *os.File
}

func (d *Dir) open(name string) (opened, error) {
	file, err := os.Open(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return opened{}, inputErrorf("%s is missing; a run directory holds %s, %s and %s", d.file(name), PlanFile, HistoryFile, ResourceFile)
	}
	if err != nil {
		return opened{}, inputErrorf("cannot read the recording: %w", err)
	}
	return opened{file, file}, nil
}

// tailBlock is how much of a file's end is searched for the end of a line: more than any line takes.
const tailBlock = 1 << 16

// openWhole opens a file that is still written to, up to the end of its last whole line now.
func (d *Dir) openWhole(name string) (opened, error) {
	f, err := d.open(name)
	if err != nil {
		return f, err
	}
	info, err := f.file.Stat()
	if err != nil {
		return f, fmt.Errorf("reading the recording so far: %w", err)
	}
	from := max(0, info.Size()-tailBlock)
	tail := make([]byte, info.Size()-from)
	if _, err := f.file.ReadAt(tail, from); err != nil && err != io.EOF {
		return f, fmt.Errorf("reading the recording so far: %w", err)
	}
	f.Reader = io.LimitReader(f.file, from+int64(bytes.LastIndexByte(tail, '\n'))+1)
	return f, nil
}

// Recorded is how many bytes the recording has; what is not there counts nothing.
func (d *Dir) Recorded() (size int64) {
	for _, name := range []string{HistoryFile, ResourceFile} {
		if file, err := os.Stat(d.file(name)); err == nil {
			size += file.Size()
		}
	}
	return size
}

// Reread is what the run recorded, as far as whole lines go. Its files are opened whenever they are ranged over.
func (d *Dir) Reread(plan history.Plan) model.Recording {
	from := d
	if d.recorded != nil {
		from = d.recorded
	}
	return model.Recording{
		Plan:     plan,
		Events:   reread(from, HistoryFile, history.Events),
		Requests: reread(from, ResourceFile, history.Requests),
	}
}

func reread[T any](d *Dir, name string, read func(io.Reader, string) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		of, err := d.openWhole(name)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer of.file.Close()
		read(of, of.file.Name())(yield)
	}
}
