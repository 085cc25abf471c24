package compare

import (
	"strings"
	"testing"
)

// A comparison that was interrupted lacks runs: judged again it is not interrupted any more, and not a success either. When runs
// were made, and what was stopped, stays.
func TestAnInterruptedComparisonJudgedAgain(t *testing.T) {
	tasks := []Task{task("made", 2, nil), task("stopped", 2, nil)}
	c := &Comparison{Seed: 7, Shard: Whole, Interrupted: true, Basis: NewBasis("v1", 7, tasks)}
	for i, task := range tasks {
		c.Matrix = append(c.Matrix, task.Cell)
		c.Cells = append(c.Cells, NewResult(task.Cell, nil, []Run{calm()}[:1-i], 2))
	}
	c.Cells[0].StoppedEarly, c.Cells[1].Stopped = true, "runs/stopped"
	c.Finish()
	judged := 0
	again, err := c.Again(nil, func(run Run, _ *Expectation) Run { judged++; return run })
	if err != nil || judged != 1 || again.ExitCode != exitInconclusive || !strings.Contains(again.Sentence(), "interrupted") || again.Basis.Digest != c.Basis.Digest {
		t.Errorf("%d runs, exit %d, %v: %+v", judged, again.ExitCode, err, again)
	}
	if !again.Cells[0].StoppedEarly || again.Cells[1].Stopped != "runs/stopped" {
		t.Errorf("%+v", again.Cells)
	}
	if c.ExitCode != exitInterrupted || !c.Interrupted {
		t.Error("the comparison itself was changed")
	}
}

// A merged comparison that lacks runs is as unknown when it is judged again as when it was merged; a shard alone lacks none of its own.
func TestAMergedComparisonThatLacksRunsJudgedAgain(t *testing.T) {
	tasks := []Task{task("made", 2, nil)}
	shard := &Comparison{Seed: 7, Shard: Shard{1, 2}, Basis: NewBasis("v1", 7, tasks), Matrix: []Cell{tasks[0].Cell}, Cells: []Result{NewResult(tasks[0].Cell, nil, []Run{calm()}, 2)}}
	shard.Finish()
	merged, err := Merge([]Part{{"one", shard}}, "out")
	if err != nil || merged.Cells[0].Outcome != Unclear {
		t.Fatalf("merged: %+v, %v", merged.Cells, err)
	}
	same := func(run Run, _ *Expectation) Run { return run }
	for _, c := range []*Comparison{merged, shard} {
		again, err := c.Again(nil, same)
		if err != nil || again.ExitCode != c.ExitCode || again.Cells[0].Outcome != c.Cells[0].Outcome || len(again.Cells[0].Problems) != len(c.Cells[0].Problems) {
			t.Errorf("shard %v: exit %d and %s, was %d and %s (%v)", c.Shard, again.ExitCode, again.Cells[0].Outcome, c.ExitCode, c.Cells[0].Outcome, err)
		}
	}
}
