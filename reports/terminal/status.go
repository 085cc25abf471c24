package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"lockcheck/reports/words"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// State is what a run has to say of itself while it goes on.
type State struct {
	Phase        string // "load"; "" shows nothing
	Elapsed      time.Duration
	Limit        time.Duration // of the load phase; 0: unknown
	OpsPerSecond float64
	Holders      []string // who believes that it holds a lock: "c2", or "c2 of k1" where there are several locks
	Fault        string   // what the nemesis does right now: "c2 paused"
	Incidents    int64
	Findings     int64 // that those led to
	Truncated    bool  // counting stopped: there may be more
}

// Status shows how a run gets on: one line that is rewritten on a terminal, a plain line every ten seconds elsewhere.
// It is safe for use by several goroutines.
type Status struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	quiet bool
	width func() int
	shown bool          // a line without its end is on the terminal
	next  time.Duration // when the next plain line is due
}

// PlainEvery is the pace of status lines where they cannot be rewritten.
const PlainEvery = 10 * time.Second

const defaultWidth = 80

// NewStatus shows on w. With quiet it shows nothing but notices.
func NewStatus(w io.Writer, tty, quiet bool) *Status {
	return &Status{w: w, tty: tty, quiet: quiet, next: PlainEvery, width: func() int { return terminalWidth(w) }}
}

// IsTerminal reports whether w is a terminal that lines can be rewritten on.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// Color reports whether w wants colour: a terminal does, unless the user says otherwise. NO_COLOR is for people who cannot read
// colours, so it goes before FORCE_COLOR, which logs of CI that show them are for.
func Color(w io.Writer) bool {
	force := os.Getenv("FORCE_COLOR")
	switch {
	case os.Getenv("NO_COLOR") != "", force == "0", force == "false":
		return false
	case force != "":
		return true
	}
	return IsTerminal(w)
}

func terminalWidth(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}

// Update shows the state. It may be called as often as one likes.
func (s *Status) Update(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.quiet:
	case s.tty:
		// One column less than there are: a full line makes some terminals wrap.
		fmt.Fprint(s.w, "\r"+fit(statusLine(state), s.width()-1)+"\x1b[K")
		s.shown = true
	case state.Elapsed >= s.next:
		fmt.Fprintln(s.w, statusLine(state))
		s.next = state.Elapsed.Truncate(PlainEvery) + PlainEvery
	}
}

// Line shows a line that stays, such as the progress of starting a cluster.
func (s *Status) Line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		return
	}
	s.clear()
	fmt.Fprintln(s.w, words.Plain(fmt.Sprintf(format, args...)))
}

// Notice shows a line that has to be seen: also with quiet.
func (s *Status) Notice(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.w, words.Plain(line))
}

// Begin shows what is being done and returns what ends the line: "starting 3 etcd members ... " and "ready in 1.2 s".
// On a terminal the beginning shows at once; elsewhere both halves come out as one line.
func (s *Status) Begin(format string, args ...any) func(format string, args ...any) {
	what := words.Plain(fmt.Sprintf(format, args...))
	s.mu.Lock()
	if s.tty && !s.quiet {
		fmt.Fprint(s.w, "\r"+fit(what+" ...", s.width()-1)+"\x1b[K")
		s.shown = true
	}
	s.mu.Unlock()
	return func(format string, args ...any) { s.Line("%s ... %s", what, fmt.Sprintf(format, args...)) }
}

// Done takes the rewritten line away. Update may follow and shows it again.
func (s *Status) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *Status) clear() {
	if s.shown {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.shown = false
	}
}

func statusLine(state State) string {
	parts := []string{seconds(state.Elapsed)}
	if state.Limit > 0 && state.Elapsed <= state.Limit { // what comes after the load has no limit
		parts[0] += " of " + seconds(state.Limit)
	}
	if state.Phase != "" && state.Phase != "load" {
		parts = append(parts, state.Phase)
	}
	parts = append(parts, fmt.Sprintf("%.0f ops/s", state.OpsPerSecond))
	if len(state.Holders) > 0 {
		parts = append(parts, "held by "+strings.Join(state.Holders, ", "))
	} else {
		parts = append(parts, "no client holds")
	}
	if state.Fault != "" {
		parts = append(parts, "! "+state.Fault)
	}
	found := words.Found(state.Incidents, state.Findings)
	if state.Truncated {
		found = "at least " + found
	}
	parts = append(parts, found)
	return words.Plain(strings.Join(parts, " | "))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// fit cuts a line to a number of columns, and shows that it did.
func fit(line string, columns int) string {
	if displaywidth.String(line) <= columns {
		return line
	}
	return displaywidth.TruncateString(line, max(columns, 1), "…")
}
