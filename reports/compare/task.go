package compare

import (
	"cmp"
	"slices"
	"time"

	"lockcheck/reports/rate"
)

// Task is one cell to be run. Its runs are numbered from 1, and the number decides the seed, whichever job, shard or pod makes the run.
type Task struct {
	Cell
	Flags  []Flag       // of lockcheck run, all but those that differ from run to run
	Repeat int          // the most runs, of all shards
	Expect *Expectation // nil if nothing is expected
	// UntilKnown ends the cell once the half width of its rates' intervals is not more; 0 does not.
	UntilKnown float64
	// Rated is the rate that has to be known then, in the place of those that a comparison shows; nil for these.
	Rated func(runs []Run) rate.Rate

	// Make are the numbers of the runs that are to be made here, in order.
	Make []int
	// Done are runs that were made before the comparison ended early, in the order of their seeds: they count, and are not made again.
	Done []Run

	// Planned is for how long the clients of a run work, as its plan says; 0 if that is not known.
	Planned time.Duration
}

// NewTask is a cell of which all runs are to be made.
func NewTask(cell Cell, flags []Flag, repeat int) Task {
	t := Task{Cell: cell, Flags: flags, Repeat: max(repeat, 1)}
	for n := range t.Repeat {
		t.Make = append(t.Make, n+1)
	}
	return t
}

// With is a task of which some runs were made already; seed is that of its first run.
func (t Task) With(done []Run, seed int64) Task {
	t.Done = bySeed(done)
	t.Make = slices.DeleteFunc(slices.Clone(t.Make), func(n int) bool {
		return slices.ContainsFunc(done, func(run Run) bool { return run.Seed == seed+int64(n-1) })
	})
	return t
}

// bySeed puts runs into the order of their seeds: those side by side end in any.
func bySeed(runs []Run) []Run {
	return slices.SortedStableFunc(slices.Values(runs), func(a, b Run) int { return cmp.Compare(a.Seed, b.Seed) })
}

// Missing is how many runs of a task may still be made.
func (t Task) Missing() int {
	if len(t.Make) == 0 || t.over(t.Done, t.Make[0]) {
		return 0
	}
	return len(t.Make)
}

// waits reports whether the cell ends once the violations that it expects have come.
func (t Task) waits() bool {
	return t.UntilKnown == 0 && t.Expect.wantsViolation() && len(t.Expect.rates()) == 0
}

// AtOnce is how many of the runs that may still be made can be at work at the same time.
func (t Task) AtOnce() int {
	if t.waits() {
		return min(1, t.Missing())
	}
	return t.Missing()
}

// look is the number of the run after which it is decided whether the cell ends, where the run of a number is to be made. Runs up to it are made side
// by side: nothing that one shows takes the next back.
func (t Task) look(number int) int {
	switch {
	case t.UntilKnown > 0:
		for _, look := range rate.Looks(t.Repeat) {
			if look >= number {
				return look
			}
		}
	case t.waits():
		return number
	}
	return t.Repeat
}

// looks is how often it may be decided by the cell's rates whether it ends.
func (t Task) looks() int {
	if t.UntilKnown > 0 {
		return len(rate.Looks(t.Repeat))
	}
	return 1
}

// over reports whether the cell ends with these runs; all numbers before next were tried.
func (t Task) over(runs []Run, next int) bool {
	if t.UntilKnown > 0 {
		rates := []rate.Rate{}
		if t.Rated != nil {
			rates = append(rates, t.Rated(runs))
		} else {
			rates = t.result(runs).allRates()
		}
		return rate.Known(next-1, t.Repeat, t.UntilKnown, rates...)
	}
	return t.waits() && t.Expect.hit(runs)
}

// units is in how many parts a cell can be divided. What ends it early, or has to come in any one of its runs, can only be seen by those who have all.
func (t Task) units() int {
	if t.UntilKnown > 0 || t.Expect.wantsAny() {
		return 1
	}
	return t.Repeat
}

// Units is in how many parts tasks can be divided among shards.
func Units(tasks []Task) (n int) {
	for _, t := range tasks {
		n += t.units()
	}
	return n
}

// of are the tasks that the shard has a part of, with that part. The first runs of all cells are dealt out before the second ones: as many shards as
// cells, or a multiple, have one cell each.
func (s Shard) of(tasks []Task) (own []Task) {
	parts := make([][]int, len(tasks))
	position := 0
	for number, more := 1, true; more; number++ {
		more = false
		for i, t := range tasks {
			units := t.units()
			if number > units {
				continue
			}
			if more = true; s.Has(position) {
				parts[i] = append(parts[i], number)
				if units == 1 {
					parts[i] = t.Make
				}
			}
			position++
		}
	}
	for i, t := range tasks {
		if t.Make = parts[i]; len(t.Make) > 0 {
			own = append(own, t)
		}
	}
	return own
}
