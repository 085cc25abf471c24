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
	check := func(when string, first, second int, want time.Duration) {
		t.Helper()
		if got := e.left([]int{first, second}); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	check("before any run", 2, 3, 2*15*time.Second+3*65*time.Second)
	e.measured(first, calm(), 12*time.Second)
	check("one took 2 s longer than its clients worked", 1, 3, 12*time.Second+3*62*time.Second)
	e.measured(first, failed(69), time.Millisecond)
	check("one that could not be made tells nothing", 0, 3, 3*62*time.Second)
	e.measured(second, calm(), 64*time.Second)
	check("all that were measured count", 0, 2, 2*63*time.Second)
	e.tasks[1].Planned = 0
	check("the length of a run is unknown", 0, 2, 0)
}

func TestTheScreenShowsTheTimeLeftInTheFirstRun(t *testing.T) {
	var out bytes.Buffer
	tasks := []Task{task("etcd", 2, nil), task("redis", 1, nil)}
	for i := range tasks {
		tasks[i].Planned = 30 * time.Second
	}
	screen := NewScreen(&out, tasks, false)
	Execute(t.Context(), tasks, Execution{Seed: 7}, &scripted{runs: map[string][]Run{"etcd": {calm(), calm()}, "redis": {calm()}}}, screen)
	screen.Close()
	if line, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(line, "| at most 3 runs, about 2 min left") {
		t.Errorf("the first line is %q", line)
	}
}
