package compare

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Part is a shard's comparison and where it lies.
type Part struct {
	Dir string
	*Comparison
}

// Merge joins the shards of one comparison and judges every cell again by its runs. Links to runs are made relative to
// out. Cells that no part has are kept as not run: what is missing is unknown, never met. Parts of different comparisons
// are refused, with what they differ in.
func Merge(parts []Part, out string) (*Comparison, error) {
	if len(parts) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	first := parts[0]
	whole := *first.Comparison
	whole.Shard, whole.Cells, whole.Interrupted = Whole, nil, false
	have := map[Cell]Result{}
	for _, part := range parts {
		if err := first.sameAs(part); err != nil {
			return nil, err
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
			have[cell.Cell] = judgedAgain(part, cell, out)
		}
	}
	for _, cell := range first.Matrix {
		result, ok := have[cell]
		if !ok {
			result = NewResult(cell, nil, nil, 0)
		}
		whole.Cells = append(whole.Cells, result)
	}
	whole.MissingShards = missing(parts)
	whole.Finish()
	return &whole, nil
}

// sameAs is an error unless two parts are of one comparison.
func (p Part) sameAs(other Part) error {
	refuse := func(why string, args ...any) error {
		return fmt.Errorf("%s and %s are not parts of one comparison: %s", p.Dir, other.Dir, fmt.Sprintf(why, args...))
	}
	switch {
	case p.Comparison == other.Comparison:
	case p.Basis.Digest == "" || other.Basis.Digest == "":
		return refuse("one of them was written by an earlier lockcheck, which did not record what decided its runs; run it again")
	case p.Basis.Digest != other.Basis.Digest: // which covers matrix and expectations, too
		return refuse("%s", strings.Join(p.Basis.differences(other.Basis), "; "))
	case p.Shard.Count != other.Shard.Count:
		return refuse("the first is shard %v, the second %v", p.Shard, other.Shard)
	}
	return nil
}

// judgedAgain is a cell of a part, seen from another directory.
func judgedAgain(part Part, cell Result, out string) Result {
	runs := slices.Clone(cell.Runs)
	for i := range runs {
		runs[i].Dir, runs[i].Report = moved(part.Dir, runs[i].Dir, out), moved(part.Dir, runs[i].Report, out)
	}
	again := NewResult(cell.Cell, cell.Expectation, runs, len(runs))
	again.StoppedEarly, again.Stopped = cell.StoppedEarly, moved(part.Dir, cell.Stopped, out)
	return again
}

// missing are the numbers of the shards that have cells and are not among the parts.
func missing(parts []Part) (numbers []int) {
	for n := 1; n <= min(parts[0].Shard.Count, len(parts[0].Matrix)); n++ {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.Shard.Index == n }) {
			numbers = append(numbers, n)
		}
	}
	return numbers
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
