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
