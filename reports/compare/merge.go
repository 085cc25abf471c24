package compare

import (
	"cmp"
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
			before, has := have[cell.Cell]
			if !has {
				have[cell.Cell] = judgedAgain(part, cell, out)
				continue
			}
			joined, err := before.and(judgedAgain(part, cell, out))
			if err != nil {
				return nil, err
			}
			have[cell.Cell] = joined
		}
	}
	whole.MissingShards = missing(parts)
	for _, cell := range first.Matrix {
		result, ok := have[cell]
		if !ok {
			result = NewResult(cell, nil, nil, 0)
		}
		result.lacks()
		whole.Cells = append(whole.Cells, result)
	}
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
	cell.Stopped = moved(part.Dir, cell.Stopped, out)
	return cell.with(cell.Expectation, runs)
}

// and joins the runs that two shards made of a cell.
func (r Result) and(other Result) (Result, error) {
	for _, run := range other.Runs {
		if slices.ContainsFunc(r.Runs, func(mine Run) bool { return mine.Seed == run.Seed }) {
			return r, fmt.Errorf("the run of %v with seed %d is in several of the directories; give each shard once", r.Cell, run.Seed)
		}
	}
	r.Stopped = cmp.Or(r.Stopped, other.Stopped)
	r.StoppedEarly = r.StoppedEarly || other.StoppedEarly
	return r.with(r.Expectation, bySeed(slices.Concat(r.Runs, other.Runs))), nil
}

// lacks makes a cell unknown that would be met by the runs which are there: a shard that is missing, or that ended early, has others.
func (r *Result) lacks() {
	if n := r.Planned - len(r.Runs); r.Outcome == Met && n > 0 && !r.StoppedEarly && !r.task().over(r.Runs, len(r.Runs)+1) {
		r.Outcome = Unclear
		r.Problems = append(r.Problems, Problem{Kind: Unknown, Text: fmt.Sprintf("%d of %d runs are missing", n, r.Planned)})
	}
}

// missing are the numbers of the shards that have something to run and are not among the parts.
func missing(parts []Part) (numbers []int) {
	for n := 1; n <= min(parts[0].Shard.Count, max(Units(parts[0].Basis.Tasks(Whole)), len(parts[0].Matrix))); n++ {
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
