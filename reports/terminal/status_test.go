package terminal

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
)

func busy(elapsed time.Duration) State {
	return State{Phase: "load", Elapsed: elapsed, Limit: 20 * time.Second, OpsPerSecond: 52.4, Holders: []string{"c2"}, Fault: "c2 paused", Incidents: 1, Findings: 3}
}

func TestStatusLineFitsTheTerminal(t *testing.T) {
	for _, width := range []int{1, 2, 10, 40, 80, 200} {
		var out strings.Builder
		s := NewStatus(&out, true, false)
		s.width = func() int { return width }
		state := busy(4 * time.Second)
		state.Holders = []string{"客户端一", "c3 of k\x1b[31m1"}
		s.Update(state)
		line, ok := strings.CutPrefix(out.String(), "\r")
		line, end := strings.CutSuffix(line, "\x1b[K")
		if !ok || !end {
			t.Fatalf("width %d: %q does not rewrite the line", width, out.String())
		}
		if got := displaywidth.String(line); got > max(width-1, 1) {
			t.Errorf("width %d: the line takes %d columns: %q", width, got, line)
		}
		if strings.Contains(line, "\x1b") {
			t.Errorf("an escape of a key's name reached the terminal: %q", line)
		}
	}
}

func TestStatusSaysWhatGoesOn(t *testing.T) {
	got := statusLine(busy(4 * time.Second))
	if want := "4 s of 20 s | 52 ops/s | held by c2 | ! c2 paused | 1 incident, 3 findings"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The load has a limit; what comes after it has none to be compared with.
func TestStatusNamesNoLimitThatIsOver(t *testing.T) {
	after := busy(32 * time.Second)
	after.Phase = "waiting"
	if got := statusLine(after); !strings.HasPrefix(got, "32 s | waiting | ") {
		t.Errorf("got %q", got)
	}
}

func TestStatusCountsIncidentsBeforeFindings(t *testing.T) {
	for want, state := range map[string]State{
		"0 incidents":                           {},
		"2 incidents, 118 findings":             {Incidents: 2, Findings: 118},
		"at least 1 incident, 1 finding":        {Incidents: 1, Findings: 1, Truncated: true},
		"at least 12 incidents, 1,204 findings": {Incidents: 12, Findings: 1204, Truncated: true},
	} {
		line := statusLine(state)
		if got := line[strings.LastIndex(line, "| ")+2:]; got != want {
			t.Errorf("the status line ends with %q, want %q", got, want)
		}
	}
}

func TestElsewhereThereIsOnePlainLineEveryTenSeconds(t *testing.T) {
	var out strings.Builder
	s := NewStatus(&out, false, false)
	for elapsed := time.Duration(0); elapsed <= 35*time.Second; elapsed += 100 * time.Millisecond {
		s.Update(busy(elapsed))
	}
	s.Done()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "10 s") || !strings.HasPrefix(lines[2], "30 s") {
		t.Errorf("got %q", lines)
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("control characters in %q", out.String())
	}
}

func TestQuietIsQuiet(t *testing.T) {
	for _, tty := range []bool{true, false} {
		var out strings.Builder
		s := NewStatus(&out, tty, true)
		s.Begin("starting")("done")
		s.Update(busy(11 * time.Second))
		s.Line("a line")
		s.Done()
		if out.Len() != 0 {
			t.Errorf("said %q", out.String())
		}
	}
}

func TestProgressStays(t *testing.T) {
	var out strings.Builder
	s := NewStatus(&out, false, false)
	s.Begin("starting %d etcd members", 3)("ready in %s", "1.2 s")
	if got := out.String(); got != "starting 3 etcd members ... ready in 1.2 s\n" {
		t.Errorf("got %q", got)
	}
}

func TestStatusMayBeUsedFromManySides(t *testing.T) {
	var out strings.Builder
	s := NewStatus(&out, true, false)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				s.Update(busy(time.Duration(i) * time.Second))
				s.Line("line %d", i)
			}
		})
	}
	wg.Wait()
	s.Done()
	if got := strings.Count(out.String(), "\n"); got != 400 {
		t.Errorf("%d of 400 lines arrived", got)
	}
}
