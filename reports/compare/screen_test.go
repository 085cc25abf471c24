package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Where lines cannot be drawn over there is one when a run begins and one when it ends.
func TestScreenWithoutATerminal(t *testing.T) {
	run := func(quiet bool) string {
		var out bytes.Buffer
		tasks := []Task{task("etcd", 2, pauseHarms()), task("redis\x1b[2J", 1, nil)}
		screen := NewScreen(&out, tasks, quiet)
		Execute(t.Context(), tasks, Execution{Seed: 7}, &scripted{runs: map[string][]Run{"etcd": {calm(), overlapAndStale()}, "redis\x1b[2J": {failed(69)}}}, screen)
		screen.Close()
		return out.String()
	}
	text := run(false)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 7 { // the run that failed has a line more
		t.Errorf("%d lines, want 7:\n%s", len(lines), text)
	}
	for _, want := range []string{"cell 1 of 2: etcd / pause / lock, run 2 of 2, seed 8 | at most 2 runs", "violated 1 of 2", "could not be made (exit 69): no such server"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("it obeys a name")
	}
	if text := run(true); text != "" {
		t.Errorf("quiet, and it says %q", text)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "a moment", 45 * time.Second: "45 s", 10 * time.Minute: "10 min", 3 * time.Hour: "3.0 h"} {
		if got := roughly(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
