package nemesis

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Mutation is a way to make another spec of one.
type Mutation string

// The mutations.
const (
	Add       Mutation = "add"
	Drop      Mutation = "drop"
	Swap      Mutation = "swap"
	Retarget  Mutation = "retarget"
	Retrigger Mutation = "retrigger"
	Halve     Mutation = "halve"
	Double    Mutation = "double"
	Constant  Mutation = "constant"
	Reword    Mutation = "reword"
	Splice    Mutation = "splice"
)

// Mutations lists them.
func Mutations() []Mutation {
	return []Mutation{Add, Drop, Swap, Retarget, Retrigger, Halve, Double, Constant, Reword, Splice}
}

// Mutate makes another spec of one; of Splice with steps of a second. It reports false where the mutation changes nothing that the run can
// have.
func (m Menu) Mutate(r *rand.Rand, by Mutation, s, other Spec) (Spec, bool) {
	for range tries / 20 {
		mutated, ok := m.takes(m.mutated(r, by, s.clone(), other))
		if ok && mutated.String() != s.String() {
			return mutated, true
		}
	}
	return nil, false
}

func (m Menu) mutated(r *rand.Rand, by Mutation, s, other Spec) Spec {
	at := r.IntN(len(s))
	f := &s[at][0]
	anew := m.fault(r)
	switch by {
	case Add:
		if len(s) < MostSteps {
			s = slices.Insert(s, r.IntN(len(s)+1), []Fault{anew})
		}
	case Drop:
		if len(s) > 1 {
			s = slices.Delete(s, at, at+1)
		}
	case Swap:
		to := r.IntN(len(s))
		s[at], s[to] = s[to], s[at]
	case Retarget:
		kind := kindNamed(f.Kind)
		if len(kind.Targets) > 0 {
			f.Target = m.role(r, oneOf(r, kind.Targets))
		}
		if kind.Takes.Peer && r.IntN(2) == 0 {
			f.Peer = Role{}
			if r.IntN(3) > 0 {
				f.Peer = m.role(r, oneOf(r, roleNames()))
			}
		}
	case Retrigger:
		f.Trigger = anew.Trigger
	case Halve:
		f.scale(r, 0.5)
	case Double:
		f.scale(r, 2)
	case Constant:
		if len(m.Constants) > 0 {
			near := round(oneOf(r, m.Constants).Seconds() * oneOf(r, []float64{0.9, 1, 1.1}))
			f.For, f.timed = Range{Low: near, High: near}, true
		}
	case Reword:
		words := kindNamed(f.Kind).Options
		if len(words) > 0 {
			word := oneOf(r, words)
			if i := slices.Index(f.Words, word); i >= 0 {
				f.Words = slices.Delete(f.Words, i, i+1)
			} else {
				f.Words = append(f.Words, word)
			}
		}
	case Splice:
		if len(other) > 0 {
			at = r.IntN(len(s) + 1)
			s = append(s[:at:at], other.clone()[r.IntN(len(other)):]...)
			s = s[max(0, len(s)-MostSteps):]
		}
	}
	return s
}

// scale multiplies one of a fault's magnitudes.
func (f *Fault) scale(r *rand.Rand, by float64) {
	var sizes []func()
	stretch := func(of *Range) {
		if of.given() {
			sizes = append(sizes, func() { of.Low, of.High = round(of.Low*by), round(of.High*by) })
		}
	}
	stretch(&f.For)
	stretch(&f.Shift)
	stretch(&f.Delay)
	if f.Share != 0 {
		sizes = append(sizes, func() { f.Share = min(math.Round(100*f.Share*by)/100, 1) })
	}
	if f.Rate != 0 {
		sizes = append(sizes, func() { f.Rate = int64(float64(f.Rate)*by) / 1000 * 1000 })
	}
	if f.Drift != 0 {
		sizes = append(sizes, func() { f.Drift = math.Round(1000*f.Drift*by) / 1000 })
	}
	if f.Latency != 0 {
		sizes = append(sizes, func() { f.Latency = time.Duration(float64(f.Latency) * by).Round(time.Millisecond) })
	}
	if len(sizes) > 0 {
		oneOf(r, sizes)()
	}
}

func (s Spec) clone() Spec {
	all := make(Spec, len(s))
	for i, mix := range s {
		all[i] = slices.Clone(mix)
		for j := range all[i] {
			all[i][j].Words = slices.Clone(all[i][j].Words)
		}
	}
	return all
}
