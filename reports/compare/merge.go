package compare

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

// Part is a shard's comparison and where it lies.
type Part struct {
	Dir string
	*Comparison
}

// Merge joins the shards of one comparison and judges every cell again by its runs. Links to runs are made relative to
// out. Cells that no part has are kept as not run: what is missing is unknown, never met.
func Merge(parts []Part, out string) (*Comparison, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("there is nothing to merge")
	}
	first := parts[0]
	whole := *first.Comparison
	whole.Shard, whole.Cells, whole.Interrupted = Whole, nil, false
	have := map[Cell]Result{}
	for _, part := range parts {
		switch {
		case !slices.Equal(part.Matrix, first.Matrix):
			return nil, fmt.Errorf("%s and %s are no parts of one comparison: their matrices differ", first.Dir, part.Dir)
		case part.Expecting != first.Expecting:
			return nil, fmt.Errorf("%s and %s are no parts of one comparison: only one of them has expectations", first.Dir, part.Dir)
		}
		if part.StartedAt.Before(whole.StartedAt) {
			whole.StartedAt = part.StartedAt
		}
		whole.DurationNS = max(whole.DurationNS, part.DurationNS)
		whole.PartInterrupted = whole.PartInterrupted || part.Interrupted || part.PartInterrupted
		for _, cell := range part.Cells {
			if !slices.Contains(first.Matrix, cell.Cell) {
				return nil, fmt.Errorf("%s has the cell %v, which its matrix lacks", part.Dir, cell.Cell)
			}
			if _, twice := have[cell.Cell]; twice {
				return nil, fmt.Errorf("the cell %v is in several of the directories; give each shard once", cell.Cell)
			}
			runs := slices.Clone(cell.Runs)
			for i := range runs {
				runs[i].Dir, runs[i].Report = moved(part.Dir, runs[i].Dir, out), moved(part.Dir, runs[i].Report, out)
			}
			again := NewResult(cell.Cell, cell.Expectation, runs, len(runs))
			again.StoppedEarly = cell.StoppedEarly
			have[cell.Cell] = again
		}
	}
	for _, cell := range first.Matrix {
		result, ok := have[cell]
		if !ok {
			result = NewResult(cell, nil, nil, 0)
		}
		whole.Cells = append(whole.Cells, result)
	}
	whole.Finish()
	return &whole, nil
}

// moved is a path relative to one directory seen from another; where that cannot be said it stays as it is.
func moved(dir, name, out string) string {
	if name == "" || path.IsAbs(name) {
		return name
	}
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(out)
	if err1 != nil || err2 != nil {
		return name
	}
	relative, err := filepath.Rel(to, filepath.Join(from, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(relative)
}
