package hunt

// Which spec comes next. What a spec can be is in nemesis/menu.go.

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"lockcheck/nemesis"
)

// headlines are the faults of mixes: what each mix is for, then what comes second in each, and so on.
func headlines(r *rand.Rand, mixes []nemesis.Spec) (order []nemesis.Spec) {
	for place, more := 0, true; more; place++ {
		more = false
		from := len(order)
		for _, mix := range mixes {
			if faults := mix.Faults(); place < len(faults) {
				order, more = append(order, faults[place]), true
			}
		}
		rank := order[from:]
		r.Shuffle(len(rank), func(i, j int) { rank[i], rank[j] = rank[j], rank[i] })
	}
	return order
}

// together is how many single steps a run has one at a time: about as many as come in its time.
const together = 3

// uncovered are the next single steps of the covering array; nil once it is done.
func (s *Search) uncovered() nemesis.Spec {
	if !s.covers {
		s.covers, s.singles = true, slices.DeleteFunc(s.menu.Singles(s.r), func(one nemesis.Spec) bool { return s.banned[one.KindsOf()] })
	}
	if len(s.singles) == 0 {
		return nil
	}
	return s.joined(&s.singles)
}

// joined is a sequence of the next steps of a list, as many as the run can have: each step of a sequence comes as often in a run as it would alone.
func (s *Search) joined(from *[]nemesis.Spec) nemesis.Spec {
	next := *from
	for n := min(nemesis.MostSteps, len(next)); n > 1; n-- {
		for range 4 {
			if spec, ok := s.menu.Lasting(s.r, slices.Concat(next[:n]...)); ok {
				*from = next[n:]
				return spec
			}
		}
	}
	*from = next[1:]
	return next[0]
}

// varied is a usual step, or one that came close, with a part changed in half of the cases; nil if the run can have no fault.
func (s *Search) varied() nemesis.Spec {
	from := s.corpus
	if cells := s.cells(); len(from) == 0 || len(cells) > 0 && s.r.IntN(2) == 0 {
		if len(cells) == 0 {
			if drawn := s.menu.Draw(s.r); drawn != nil {
				return drawn.Faults()[0]
			}
			return nil
		}
		from = s.pick(cells).spec.Faults()
	}
	one := from[s.r.IntN(len(from))]
	for s.r.IntN(2) == 0 {
		if other, ok := s.menu.Mutate(s.r, parts[s.r.IntN(len(parts))], one, nil); ok {
			one = other
		}
	}
	return one
}

// parts are the mutations of one step.
var parts = []nemesis.Mutation{nemesis.Retarget, nemesis.Retrigger, nemesis.Halve, nemesis.Double, nemesis.Constant, nemesis.Reword}

// several is a mix of such steps.
func (s *Search) several() nemesis.Spec {
	var all []nemesis.Spec
	for range together {
		one := s.varied()
		if one == nil {
			return nil
		}
		all = append(all, one)
	}
	spec, _ := s.menu.Mixed(all)
	return spec
}

// sequence has two or three such steps.
func (s *Search) sequence() nemesis.Spec {
	for range 50 {
		var steps nemesis.Spec
		for range 2 + s.r.IntN(nemesis.MostSteps-1) {
			steps = append(steps, s.varied()...)
		}
		if spec, ok := s.menu.Lasting(s.r, steps); ok {
			return spec
		}
	}
	return nil
}

// nearest is how many trials of a property are paired with each other.
const nearest = 12

// pair is a sequence of two trials that came close to a violation of one property; of all those that were not made yet the one whose parts came closest.
func (s *Search) pair() nemesis.Spec {
	all := s.cells()
	if len(all) == 0 {
		return nil
	}
	of := all[s.r.IntN(len(all))].Property // margins of different properties cannot be compared
	var near []*elite
	for _, cell := range all {
		if cell.Property == of {
			near = append(near, s.elites[cell])
		}
	}
	far := func(e *elite) int { return e.bin + 2*len(e.spec) } // of many steps some had nothing to do with it
	slices.SortStableFunc(near, func(a, b *elite) int { return cmp.Compare(far(a), far(b)) })
	near = near[:min(nearest, len(near))]
	var best nemesis.Spec
	least, made := math.MaxInt, ""
	for _, a := range near {
		for _, b := range near {
			if a == b || a.bin+b.bin >= least || len(a.spec)+len(b.spec) > nemesis.MostSteps {
				continue
			}
			text := a.spec.String() + ";" + b.spec.String()
			if s.paired[text] {
				continue
			}
			if spec, ok := s.menu.Lasting(s.r, slices.Concat(a.spec, b.spec)); ok {
				best, least, made = spec, a.bin+b.bin, text
			}
		}
	}
	s.paired[made] = true
	return best
}

// cells are those of the map, the closest first.
func (s *Search) cells() []Cell {
	return slices.SortedFunc(maps.Keys(s.elites), func(a, b Cell) int {
		return cmp.Or(cmp.Compare(s.elites[a].bin, s.elites[b].bin), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Kinds, b.Kinds))
	})
}

// pick is of one property the closest most often: half of all picks are among the closest eighth.
func (s *Search) pick(cells []Cell) *elite {
	of := cells[s.r.IntN(len(cells))].Property
	same := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.Property != of })
	u := s.r.Float64()
	return s.elites[same[int(u*u*u*float64(len(same)))]]
}

// mutant is another spec made of an elite, by the mutation that chance and its successes choose (Thompson sampling).
// Source: Agrawal and Goyal, Analysis of Thompson Sampling for the Multi-armed Bandit Problem, COLT 2012.
func (s *Search) mutant() (nemesis.Spec, nemesis.Mutation) {
	cells := s.cells()
	if len(cells) == 0 {
		return nil, ""
	}
	pick := func() *elite { return s.pick(cells) }
	for range 20 {
		best, by := -1.0, nemesis.Mutation("")
		for _, one := range nemesis.Mutations() {
			if draw := s.arms[one].draw(s.r); draw > best {
				best, by = draw, one
			}
		}
		if spec, ok := s.menu.Mutate(s.r, by, pick().spec, pick().spec); ok {
			return spec, by
		}
	}
	return nil, ""
}
