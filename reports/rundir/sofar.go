package rundir

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"lockcheck/checker"
)

// JudgeSoFar judges what there is of a recording that still goes on, or whose harness was killed: whole lines only, and
// without asking for its end. Such a recording can show a violation; it can never show that there is none. What a line
// that is recorded later may excuse is not told (see checker/sofar.go), so a count of findings never goes back while a run
// goes on. Options mean what they mean to Judge.
func (d *Dir) JudgeSoFar(opts checker.Options) (Judgement, error) {
	return againstRecorded(d.judgeSoFar, opts)
}

func (d *Dir) judgeSoFar(opts checker.Options) (Judgement, error) {
	plan, err := d.ReadPlan()
	if err != nil {
		return Judgement{}, err
	}
	// The history's end is taken before the log's: the resource logs a request before it answers, so every answer that
	// the history holds by then is in the log.
	events, err := d.openWhole(HistoryFile)
	if err != nil {
		return Judgement{}, err
	}
	defer events.Close()
	requests, err := d.openWhole(ResourceFile)
	if err != nil {
		return Judgement{}, err
	}
	defer requests.Close()
	opts.SoFar = true
	return d.judge(plan, events, requests, opts)
}

// wholeLines reads a file that is still written to, up to the end of its last whole line at the time of opening.
type wholeLines struct {
	io.Reader
	file *os.File
}

func (w wholeLines) Name() string { return w.file.Name() }

func (w wholeLines) Close() error { return w.file.Close() }

// tailBlock is how much of a file's end is searched for the end of a line: more than any line takes.
const tailBlock = 1 << 16

func (d *Dir) openWhole(name string) (wholeLines, error) {
	file, err := d.open(name)
	if err != nil {
		return wholeLines{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return wholeLines{}, fmt.Errorf("reading the recording so far: %w", err)
	}
	from := max(0, info.Size()-tailBlock)
	tail := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(tail, from); err != nil && err != io.EOF {
		return wholeLines{}, fmt.Errorf("reading the recording so far: %w", err)
	}
	whole := from + int64(bytes.LastIndexByte(tail, '\n')) + 1
	return wholeLines{io.LimitReader(file, whole), file}, nil
}
