package reports

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"lockcheck/checker"
)

// JudgeSoFar judges what a run that still goes on has recorded up to now. Its verdict means nothing yet; its findings do.
func (d *Dir) JudgeSoFar(opts checker.Options) (*checker.Result, error) {
	plan, err := d.ReadPlan()
	if err != nil {
		return nil, err
	}
	// The history's end is taken before the log's: the resource logs a request before it answers, so every answer that
	// the history holds by then is in the log.
	events, err := d.openWhole(HistoryFile)
	if err != nil {
		return nil, err
	}
	defer events.Close()
	requests, err := d.openWhole(ResourceFile)
	if err != nil {
		return nil, err
	}
	defer requests.Close()
	j, err := d.judge(plan, events, requests, opts)
	return j.Result, err
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
