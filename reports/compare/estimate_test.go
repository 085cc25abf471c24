package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestTheTimeLeftIsKnownBeforeAnyRunWasMade(t *testing.T) {
	first, second := task("etcd", 2, nil), task("redis", 3, nil)
	first.Planned, second.Planned = 10*time.Second, 60*time.Second
	e := newEstimate([]Task{first, second})
	check := func(when string, at, attempt int, want time.Duration) {
		t.Helper()
		if got := e.left(at, attempt); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	check("before any run", 0, 1, 2*15*time.Second+3*65*time.Second)
	e.measured(first, calm(), 12*time.Second)
	check("one took 2 s longer than its clients worked", 0, 2, 12*time.Second+3*62*time.Second)
	e.measured(first, failed(69), time.Millisecond)
	check("one that could not be made tells nothing", 1, 1, 3*62*time.Second)
	e.measured(second, calm(), 64*time.Second)
	check("all that were measured count", 1, 2, 2*63*time.Second)
	e.tasks[1].Planned = 0
	check("nobody knows how long a run is to be", 1, 2, 0)
}

func TestTheScreenTellsTheTimeLeftInTheFirstRun(t *testing.T) {
	var out bytes.Buffer
	tasks := []Task{task("etcd", 2, nil), task("redis", 1, nil)}
	for i := range tasks {
		tasks[i].Planned = 30 * time.Second
	}
	screen := NewScreen(&out, tasks, false)
	Execute(t.Context(), tasks, 7, &scripted{runs: map[string][]Run{"etcd": {calm(), calm()}, "redis": {calm()}}}, screen)
	screen.Close()
	if line, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(line, "| at most 3 runs, about 2 min left") {
		t.Errorf("the first line is %q", line)
	}
}
