package compare

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"lockcheck/reports"
)

// Screen shows how a comparison gets on: on a terminal the table as it fills, with a line below that tells the time;
// elsewhere a plain line when a run begins and one when it ends. It is a Watcher.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	quiet bool
	lines int // that were drawn and are to be drawn over
	cells []Result
	job   *Job
	left  Left
	began time.Time
	stop  chan struct{}
	ended chan struct{}
}

// redraw is how often the time is told on a terminal.
const redraw = time.Second

// NewScreen shows on w. With quiet it shows nothing. Close has to be called.
func NewScreen(w io.Writer, tasks []Task, quiet bool) *Screen {
	s := &Screen{w: w, tty: reports.IsTerminal(w), quiet: quiet, stop: make(chan struct{}), ended: make(chan struct{})}
	for _, t := range tasks {
		s.cells = append(s.cells, NewResult(t.Cell, t.Expect, nil, t.Repeat))
	}
	go s.tick()
	return s
}

func (s *Screen) tick() {
	defer close(s.ended)
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		}
	}
}

// Began shows the run at work.
func (s *Screen) Began(job Job, left Left) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job, s.left, s.began = &job, left, time.Now()
	if !s.tty && !s.quiet {
		fmt.Fprintln(s.w, s.status())
	}
	s.draw()
}

// Ended shows what came of it.
func (s *Screen) Ended(_ Job, run Run, soFar []Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	copy(s.cells, soFar)
	s.job = nil
	if !s.tty && !s.quiet {
		fmt.Fprintf(s.w, "  %s\n", Line(soFar[len(soFar)-1]))
		if run.Error != "" {
			fmt.Fprintf(s.w, "  could not be made (exit %d): %s\n", run.ExitCode, reports.Plain(run.Error))
		}
	}
	s.draw()
}

// Close takes the table away: the last one is shown by others.
func (s *Screen) Close() {
	close(s.stop)
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *Screen) erase() {
	if s.lines > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\r\x1b[J", s.lines)
		s.lines = 0
	}
}

func (s *Screen) draw() {
	columns, rows, ok := reports.TerminalSize(s.w)
	if !s.tty || s.quiet || !ok {
		return
	}
	var table strings.Builder
	if err := Table(&table, s.cells, false, columns-1); err != nil {
		return // it is only progress
	}
	lines := append(strings.Split(strings.TrimRight(table.String(), "\n"), "\n"), "", s.status())
	// What does not fit cannot be drawn over: the last lines are those that change.
	lines = lines[max(len(lines)-(rows-1), 0):]
	s.erase()
	for _, line := range lines {
		fmt.Fprintln(s.w, displaywidth.TruncateString(line, max(columns-1, 1), "…"))
	}
	s.lines = len(lines)
}

// status is such as "cell 3 of 8: etcd / pause / lock, run 1 of 3, seed 7 | 12 s | at most 9 runs, about 3 min left".
func (s *Screen) status() string {
	if s.job == nil {
		return ""
	}
	took := time.Since(s.began)
	text := fmt.Sprintf("cell %d of %d: %v, run %d of %d, seed %d", s.left.Cell, s.left.Cells, s.job.Cell, s.job.Attempt, s.job.Repeat, s.job.Seed)
	if s.tty {
		text += fmt.Sprintf(" | %.0f s", took.Seconds())
	}
	text += " | at most " + reports.Plural(int64(s.left.Runs), "run", "runs")
	if s.left.Time > 0 {
		text += ", about " + roughly(s.left.Time-took)
	}
	return reports.Plain(text + " left")
}

func roughly(d time.Duration) string {
	switch {
	case d <= 0:
		return "a moment"
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
