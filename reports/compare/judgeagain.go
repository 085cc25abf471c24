package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// Again judges every run of a comparison again and holds it against the expectations of spec, without running anything; without a
// spec, against those that it had. judge gives a run as its recording shows it now. The matrix stays: a cell that spec's lacks is an
// error. A comparison that was interrupted lacks runs, and is judged as a merged one of which a part was interrupted.
func (c *Comparison) Again(spec *Spec, judge func(Run, *Expectation) Run) (*Comparison, error) {
	again := *c
	again.Interrupted, again.PartInterrupted = false, c.Interrupted || c.PartInterrupted
	tasks := c.Basis.Tasks(Whole)
	if spec != nil {
		again.File, again.Expecting = spec.File, spec.Expecting
		if err := spec.expectOf(tasks); err != nil {
			return nil, err
		}
	}
	again.Basis = NewBasis(c.Basis.Lockcheck, c.Basis.Seed, tasks)
	again.Cells = slices.Clone(c.Cells)
	for i, cell := range c.Cells {
		at := slices.IndexFunc(tasks, func(t Task) bool { return t.Cell == cell.Cell })
		if at < 0 {
			return nil, fmt.Errorf("it has the cell %v, which its matrix lacks", cell.Cell)
		}
		var runs []Run
		for _, run := range cell.Runs {
			runs = append(runs, judge(run, tasks[at].Expect))
		}
		again.Cells[i] = cell.with(tasks[at].Expect, runs)
		if c.Shard == Whole { // the runs that a shard lacks are those of others
			again.Cells[i].lacks()
		}
	}
	again.Finish()
	return &again, nil
}

// expectOf replaces what is expected of tasks. All of them have to be cells of the matrix: an expectation says nothing of others.
func (s Spec) expectOf(tasks []Task) error {
	cells := s.Cells()
	for i, t := range tasks {
		if !slices.Contains(cells, t.Cell) {
			return fmt.Errorf("the matrix of %s has no cell %v any more, and what was run has; put it back, or run the comparison anew", s.File, t.Cell)
		}
		tasks[i].Expect = s.expectation(t.Cell)
	}
	return nil
}

// RunOtherwise are the cells that spec would run with other flags than they were run with: it was edited, or flags stood beside it.
// What ends a run early follows from the expectations, which may be edited.
func (c *Comparison) RunOtherwise(spec Spec) (cells []Cell) {
	now := map[Cell][]Flag{}
	for _, t := range spec.Tasks(Whole) {
		now[t.Cell] = t.Flags
	}
	for _, b := range c.Basis.Cells {
		if flags, has := now[b.Cell]; has && !slices.Equal(withoutUntil(flags), withoutUntil(b.Flags)) {
			cells = append(cells, b.Cell)
		}
	}
	return cells
}

// keptNote says of which cells runs were not judged again.
func (c *Comparison) keptNote() []string {
	var cells []string
	var runs int64
	for _, cell := range c.Cells {
		before := runs
		for _, run := range cell.Runs {
			if run.Kept != "" {
				runs++
			}
		}
		if runs > before {
			cells = append(cells, cell.Cell.String())
		}
	}
	if runs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the verdict of %s is the recorded one, as the recording is not there: %s", history.Counted(runs, "run", "runs"), strings.Join(cells, ", "))}
}
