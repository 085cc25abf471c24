package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"lockcheck/checker/history"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
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
	work  []*atWork // in the order in which they began
	left  Left
	stop  chan struct{}
	ended chan struct{}
}

// atWork is a run that has begun.
type atWork struct {
	job   Job
	left  Left
	began time.Time
}

// redraw is how often the time is told on a terminal.
const redraw = time.Second

// NewScreen shows on w. With quiet it shows nothing but notices. Close has to be called.
func NewScreen(w io.Writer, tasks []Task, quiet bool) *Screen {
	_, _, sized := terminal.Size(w) // what cannot be drawn over is shown as lines: docker run -t begins with 0×0
	s := &Screen{w: w, tty: sized, quiet: quiet, stop: make(chan struct{}), ended: make(chan struct{})}
	for _, t := range tasks {
		s.cells = append(s.cells, t.result(t.Done))
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
	s.work, s.left = append(s.work, &atWork{job, left, time.Now()}), left
	if !s.tty && !s.quiet {
		fmt.Fprintln(s.w, words.Plain(s.work[len(s.work)-1].words(false)+s.leftWords()))
	}
	s.draw()
}

// Ended shows what came of it.
func (s *Screen) Ended(job Job, run Run, cell Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cells[job.Position] = cell
	s.work = slices.DeleteFunc(s.work, func(w *atWork) bool { return w.job.Position == job.Position && w.job.Attempt == job.Attempt })
	if !s.tty && !s.quiet {
		fmt.Fprintf(s.w, "  %s\n", Line(cell))
		if run.Error != "" {
			fmt.Fprintf(s.w, "  could not be made (exit %d): %s\n", run.ExitCode, words.PlainLines(run.Error, "    "))
		}
		if run.Alone != "" {
			fmt.Fprintf(s.w, "  %s\n", words.Plain(run.Alone))
		}
	}
	s.draw()
}

// Notice shows a line that has to be seen: also with quiet.
func (s *Screen) Notice(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintln(s.w, words.Plain(line))
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
	columns, rows, ok := terminal.Size(s.w)
	if !s.tty || s.quiet || !ok {
		return
	}
	var table strings.Builder
	if err := Table(&table, s.cells, false, columns-1); err != nil {
		return // it is only progress
	}
	lines := append(strings.Split(strings.TrimRight(table.String(), "\n"), "\n"), "")
	lines = append(lines, s.status()...)
	// What does not fit cannot be drawn over: the last lines are those that change.
	lines = lines[max(len(lines)-(rows-1), 0):]
	s.erase()
	for _, line := range lines {
		fmt.Fprintln(s.w, displaywidth.TruncateString(line, max(columns-1, 1), "…"))
	}
	s.lines = len(lines)
}

// status is a line for each run at work, the last of which tells what is left.
func (s *Screen) status() []string {
	if len(s.work) == 0 {
		return []string{""}
	}
	lines := make([]string, len(s.work))
	for i, w := range s.work {
		lines[i] = w.words(true)
	}
	lines[len(lines)-1] += s.leftWords()
	for i := range lines {
		lines[i] = words.Plain(lines[i])
	}
	return lines
}

// words is such as "cell 3 of 8: etcd / pause / lock, run 1 of 3, seed 7 | 12 s".
func (w *atWork) words(timed bool) string {
	text := fmt.Sprintf("cell %d of %d: %v, run %d of %d, seed %d", w.left.Cell, w.left.Cells, w.job.Cell, w.job.Attempt, w.job.Repeat, w.job.Seed)
	if timed {
		text += fmt.Sprintf(" | %.0f s", time.Since(w.began).Seconds())
	}
	return text
}

// leftWords is such as " | at most 9 runs, about 3 min left".
func (s *Screen) leftWords() string {
	text := " | at most " + history.Counted(int64(s.left.Runs), "run", "runs")
	if s.left.Time > 0 {
		text += ", about " + roughly(s.left.Time-time.Since(s.work[len(s.work)-1].began))
	}
	return text + " left"
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
