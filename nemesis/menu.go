package nemesis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lockcheck/nemesis/vdso"
)

// Menu is what specs are drawn from: all of the grammar, and of it what the run can have. What New would refuse is not drawn.
type Menu struct {
	Conditions Conditions
	// Takes asks who knows more of the run, such as what its hosts are able to do; nil where nobody does.
	Takes func(Spec) bool
	// Constants are lengths of time that mattered in runs before, such as a lease or a lock delay. Durations are drawn near them, too.
	Constants []time.Duration
}

// MostSteps is the longest sequence that is drawn: three events suffice for nine of ten known failures of distributed systems.
// Source: Yuan et al., Simple Testing Can Prevent Most Critical Failures, OSDI 2014.
const MostSteps = 3

// tries bound how often something is drawn anew because the run cannot have it. Of drawn faults more than one in ten is possible.
const tries = 1000

// Draw draws a spec of 1 to MostSteps steps, each number as likely as another; nil if the menu has no fault at all.
func (m Menu) Draw(r *rand.Rand) Spec {
	for steps := 1 + r.IntN(MostSteps); steps > 0; steps-- { // fewer where no sequence of so many was possible
		for range tries {
			var spec Spec
			for range steps {
				spec = append(spec, []Fault{m.fault(r)})
			}
			if spec, ok := m.takes(spec); ok {
				return spec
			}
		}
	}
	return nil
}

// takes reads a spec as a user's would be read, and reports whether the run can have it.
func (m Menu) takes(s Spec) (Spec, bool) {
	s = s.clone()
	for _, mix := range s {
		for i := range mix {
			if !mix[i].timed { // the last one's is filled in again
				mix[i].For = Range{}
			}
		}
	}
	text := s.String()
	spec, err := Parse(text)
	if err != nil {
		return nil, false
	}
	if spec, err = spec.check(text, m.Conditions); err != nil {
		return nil, false
	}
	return spec, m.Takes == nil || m.Takes(spec)
}

// fault draws one fault of the grammar, which its kind may refuse.
func (m Menu) fault(r *rand.Rand) Fault {
	kind := oneOf(r, Kinds[1:]) // none is none
	f := Fault{Kind: kind.Name, Trigger: oneOf(r, triggers).name}
	if len(kind.Targets) > 0 {
		f.Target = m.role(r, oneOf(r, kind.Targets))
	}
	if kind.Takes.Peer && r.IntN(2) == 0 {
		f.Peer = m.role(r, oneOf(r, roleNames()))
	}
	if kind.Takes.Shift && (!kind.Takes.Drift || r.IntN(3) > 0) {
		f.Shift = m.length(r)
		if r.IntN(2) == 0 {
			f.Shift = f.Shift.negated()
		}
	} else if kind.Takes.Drift {
		f.Drift = math.Round(100*logBetween(r, 0.01, vdso.MaxDrift)) / 100
		if f.Drift < 0.99 && r.IntN(2) == 0 {
			f.Drift = -f.Drift
		}
	}
	if kind.Takes.Share {
		f.Share = math.Round(100*logBetween(r, 0.02, 1)) / 100
	}
	if kind.Takes.Rate {
		f.Rate = 1000 * int64(logBetween(r, minRate/1000, maxRate/1000))
	}
	if kind.Takes.Delay {
		f.Delay = m.length(r)
		if r.IntN(2) == 0 {
			spread := round(f.Delay.Low / 2)
			f.Spread = Range{spread, spread, f.Delay.TTL}
		}
	}
	for _, word := range kind.Options {
		if r.IntN(3) == 0 {
			f.Words = append(f.Words, word)
		}
	}
	if kind.Takes.Latency && !f.has("stall") && !f.has("error") {
		f.Latency = time.Duration(logBetween(r, 1, 1000)) * time.Millisecond
	}
	if r.IntN(2) == 0 {
		f.For, f.timed = m.length(r), true
	}
	return f
}

// role draws the numbers of a target that can have some.
func (m Menu) role(r *rand.Rand, name string) Role {
	role := Role{Name: name}
	there := m.Conditions.Servers + m.Conditions.Fronts
	if roles[name].Clients {
		there = m.Conditions.Clients
	}
	if roles[name].numbered && there > 0 && r.IntN(2) == 0 {
		role.Numbers = r.Perm(there)[:1+r.IntN(min(there, 2))]
		for i := range role.Numbers {
			role.Numbers[i]++
		}
		slices.Sort(role.Numbers)
	}
	return role
}

// length draws a length of time: from a hundredth of a lease to four leases, each order of magnitude as likely, or near a constant.
func (m Menu) length(r *rand.Rand) Range {
	if len(m.Constants) > 0 && r.IntN(3) == 0 {
		near := round(oneOf(r, m.Constants).Seconds() * oneOf(r, []float64{0.9, 1, 1.1}))
		return Range{Low: near, High: near}
	}
	length := round(logBetween(r, 0.01, 4))
	return ttls(length, length)
}

// Singles are single steps in which each kind of fault has each of its parts once, such as each target, as far as the run can have it: a
// covering array. They are chosen greedily among a few thousand drawn ones, so that the first cover the most.
func (m Menu) Singles(r *rand.Rand) []Spec {
	var drawn []Spec
	var features [][]string
	open := map[string]bool{}
	for range 1500 {
		if spec, ok := m.takes(Spec{{m.fault(r)}}); ok {
			drawn = append(drawn, spec)
			features = append(features, spec[0][0].features())
			for _, feature := range features[len(features)-1] {
				open[feature] = true
			}
		}
	}
	var chosen []Spec
	for len(open) > 0 {
		best, most := 0, 0
		for i := range drawn {
			n := 0
			for _, feature := range features[i] {
				if open[feature] {
					n++
				}
			}
			if n > most {
				best, most = i, n
			}
		}
		chosen = append(chosen, drawn[best])
		for _, feature := range features[best] {
			delete(open, feature)
		}
	}
	return chosen
}

// Usual are the default mixes of all kinds, as far as the run can have them: what such faults are most useful with.
func (m Menu) Usual() (all []Spec) {
	for _, kind := range Kinds[1:] {
		spec, err := Parse(kind.Name)
		if err == nil {
			spec, err = spec.check(kind.Name, m.Conditions)
		}
		if err != nil {
			continue
		}
		var mix []Fault
		for _, f := range spec[0] {
			if one, ok := m.takes(Spec{{f}}); ok {
				mix = append(mix, one[0][0])
			}
		}
		if len(mix) > 0 {
			all = append(all, Spec{mix})
		}
	}
	return all
}

// Mixed is one mix of several single steps: a run has some of each.
func (m Menu) Mixed(singles []Spec) (Spec, bool) {
	var mix []Fault
	for _, s := range singles {
		mix = append(mix, s[0]...)
	}
	return m.takes(Spec{mix})
}

// Lasting is a sequence of which half of the steps stay until the last one is over, whatever their own time is.
func (m Menu) Lasting(r *rand.Rand, s Spec) (Spec, bool) {
	s = s.clone()
	for i := range len(s) - 1 {
		if r.IntN(2) == 0 {
			s[i][0].For, s[i][0].timed = Range{}, false
		}
	}
	return m.takes(s)
}

// Faults are the single steps that a spec is made of.
func (s Spec) Faults() (all []Spec) {
	for _, mix := range s.clone() {
		for _, f := range mix {
			all = append(all, Spec{{f}})
		}
	}
	return all
}

// features are what a fault is made of: its kind with each part, magnitudes by their order.
func (f Fault) features() []string {
	all := []string{f.Kind + ":" + f.Target.Name, f.Kind + "@" + string(f.Trigger)}
	if f.Peer.Name != "" {
		all = append(all, f.Kind+"-"+f.Peer.Name)
	}
	for _, word := range f.Words {
		all = append(all, f.Kind+","+word)
	}
	if f.For.given() {
		all = append(all, fmt.Sprintf("%s for %s", f.Kind, order(f.For)))
	}
	if f.Shift.given() {
		all = append(all, fmt.Sprintf("%s %s %t", f.Kind, order(f.Shift), f.Shift.High > 0))
	}
	if f.Delay.given() {
		all = append(all, fmt.Sprintf("%s of %s", f.Kind, order(f.Delay)))
	}
	return all
}

// order is the order of magnitude of a length: below a lease, near it, above.
func order(r Range) string {
	size := math.Abs(r.High)
	switch {
	case !r.TTL:
		return "constant"
	case size < 0.3:
		return "short"
	case size <= 1:
		return "lease"
	}
	return "long"
}

func oneOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// logBetween draws from low to high, each factor as likely.
func logBetween(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

// round leaves two digits of a length.
func round(f float64) float64 {
	if f == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(f)))-1)
	return math.Round(math.Round(f/unit)*unit*1e6) / 1e6
}

// KindsOf are the kinds of a spec's steps, in their order, each of a mix once: "partition;pause", "kill,pause".
func (s Spec) KindsOf() string {
	var steps []string
	for _, mix := range s {
		var kinds []string
		for _, f := range mix {
			if !slices.Contains(kinds, f.Kind) {
				kinds = append(kinds, f.Kind)
			}
		}
		steps = append(steps, strings.Join(kinds, ","))
	}
	return strings.Join(steps, ";")
}

// Accepts reads a spec as a user's would be read, and reports whether the run can have it. The spec stays as it is.
func (m Menu) Accepts(s Spec) (Spec, bool) { return m.takes(s) }

// Simpler are faults that ask for less: without a trigger, an option or another side, and for half as long or as much.
func (f Fault) Simpler() (all []Fault) {
	change := func(to func(*Fault)) {
		simpler := Spec{{f}}.clone()[0][0]
		if to(&simpler); simpler.String() != f.String() {
			all = append(all, simpler)
		}
	}
	for _, word := range f.Words {
		change(func(f *Fault) {
			f.Words = slices.DeleteFunc(f.Words, func(other string) bool { return other == word })
		})
	}
	if f.Trigger != AtIntervals {
		change(func(f *Fault) { f.Trigger = AtIntervals })
	}
	if f.Peer.Name != "" {
		change(func(f *Fault) { f.Peer = Role{} })
	}
	for _, of := range []func(*Fault) *Range{
		func(f *Fault) *Range { return &f.For }, func(f *Fault) *Range { return &f.Shift }, func(f *Fault) *Range { return &f.Delay },
	} {
		if r := *of(&f); r.given() && max(math.Abs(r.Low), math.Abs(r.High)) > smallest(r) {
			change(func(f *Fault) {
				r := of(f)
				r.Low, r.High = round(r.Low/2), round(r.High/2)
			})
		}
	}
	return all
}

// smallest is what is not halved: a twentieth of a lease, or 100 ms.
func smallest(r Range) float64 {
	if r.TTL {
		return 0.05
	}
	return 0.1
}
