package history

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Requirement is one thing that must have happened at least Min times. The checker counts it by name.
type Requirement struct {
	Name string `json:"name"`
	Min  int64  `json:"min"`
}

// Requirements are what must have happened for a run of the plan to have tested anything (rule J9). They follow from its other fields: a
// lock that was waited for, writes under locks by two clients, what its work needs, and what its faults are for.
func (p *Plan) Requirements() []Requirement {
	all := requirements{{ExposureContended, 1}, {ExposureWriters, 2}}
	for _, of := range p.asked() {
		all.addFaults(of, p)
	}
	for _, kind := range p.kindsNamed() { // in a load too short for one of each nothing of it was drawn
		if exposures := WordsOf(F(kind)).Exposures; !slices.ContainsFunc(all, func(r Requirement) bool { return strings.HasPrefix(r.Name, exposures) }) {
			all.add(exposures, 1)
		}
	}
	if p.Jobs() {
		all.add(ExposureRecorders, 2)
		all.add(ExposureSlots, 2)
	}
	if w := p.Works(); w.Long && (!w.IfRenewed || len(p.asked()) == 0) { // a kill may cost each of them its lock
		all.add(ExposureRenewed, 1)
	}
	return all
}

// LosesHolds reports whether faults of the plan are meant to cost holders their locks, and leave them alive.
func (p *Plan) LosesHolds() bool {
	return slices.ContainsFunc(p.Exposure, func(r Requirement) bool {
		return r.Min > 0 && slices.ContainsFunc(faults, func(k FaultKind) bool { return r.Name == PastLease(k.Exposures) })
	})
}

// require adds what the plan requires to the list that was recorded with it. A number in the list is kept: it may have been counted from
// what older plans do not say, such as how many of their servers keep the service's data.
func (p *Plan) require() {
	if p.Excerpt != nil {
		return
	}
	for _, r := range p.Requirements() {
		switch i := slices.IndexFunc(p.Exposure, func(known Requirement) bool { return known.Name == r.Name }); {
		case i < 0:
			p.Exposure = append(p.Exposure, r)
		case p.Exposure[i].Min == 0, !ofServers(r.Name):
			p.Exposure[i].Min = max(p.Exposure[i].Min, r.Min)
		}
	}
}

// ofServers reports whether the number of a requirement depends on how many servers there are.
func ofServers(name string) bool {
	return strings.HasSuffix(name, AtOnce("")) || strings.HasSuffix(name, OfServers(""))
}

type requirements []Requirement

// add requires the most that any part of a plan does.
func (all *requirements) add(name string, least int) {
	if i := slices.IndexFunc(*all, func(known Requirement) bool { return known.Name == name }); i >= 0 {
		(*all)[i].Min = max((*all)[i].Min, int64(least))
		return
	}
	*all = append(*all, Requirement{name, int64(least)})
}

// addFaults is what faults that were in effect together must have done, by the first of each kind: to all that it names at once. One
// with a time of its own may be over when the next comes.
func (all *requirements) addFaults(sequence []Step, p *Plan) {
	together, alone := map[string]int{}, map[string]int{}
	var kinds []string
	for i, s := range sequence {
		size := max(TargetNamed(s.Target).Size(p.Nodes-p.Fronts), 1)
		inTurn := slices.Contains(s.Words, InTurn)
		switch {
		case inTurn:
		case i < len(sequence)-1 && s.For != "":
			alone[s.Fault] = max(alone[s.Fault], size)
		default:
			together[s.Fault] += size
		}
		if slices.Contains(kinds, s.Fault) {
			continue
		}
		kinds = append(kinds, s.Fault)
		least := 1
		if inTurn {
			least = size
		}
		all.add(s.exposure(p), least)
	}
	for _, kind := range kinds {
		if atOnce := max(together[kind], alone[kind]); atOnce > 1 {
			all.add(AtOnce(WordsOf(F(kind)).Exposures), atOnce)
		}
	}
}

// asked are the faults that the schedule is for: sequences, and the first of each kind that comes alone. What a mix is for is drawn at
// every second place; a file has the order of its author.
func (p *Plan) asked() (all [][]Step) {
	var kinds []string
	rounds := p.Schedule
	if p.PlanFile == "" {
		rounds = nil
		for parity := range 2 {
			for i := parity; i < len(p.Schedule); i += 2 {
				rounds = append(rounds, p.Schedule[i])
			}
		}
	}
	for _, round := range rounds {
		switch steps := round.Steps; {
		case len(steps) > 1:
			all = append(all, steps)
		case len(steps) == 1 && !slices.Contains(kinds, steps[0].Fault):
			kinds = append(kinds, steps[0].Fault)
			all = append(all, steps)
		}
	}
	return all
}

// kindsNamed are the kinds of faults that the nemesis names. A plan file has the schedule that was made of it in their place.
func (p *Plan) kindsNamed() []string {
	if p.PlanFile != "" {
		return nil
	}
	return kindsIn(p.Nemesis)
}

// kindsIn are the kinds of faults that a nemesis names.
func kindsIn(nemesis string) (kinds []string) {
	for _, item := range strings.FieldsFunc(nemesis, separates) {
		if kind := kindOf(item); kind != NoNemesis && slices.ContainsFunc(faults, func(k FaultKind) bool { return string(k.Name) == kind }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// separates reports whether a character stands between two faults of a nemesis.
func separates(r rune) bool { return r == ',' || r == ';' }

// kindOf is the kind that a fault begins with: "pause" of "pause:holder@work".
func kindOf(fault string) string {
	fault = strings.TrimSpace(fault)
	if i := strings.IndexAny(fault, ":@+-"); i >= 0 {
		return fault[:i]
	}
	return fault
}

// exposure is what a step is for.
func (s Step) exposure(p *Plan) string {
	words, target := WordsOf(F(s.Fault)), TargetNamed(s.Target)
	switch {
	case words.OfService:
		return words.Exposures
	case target.Name == ResourceTarget:
		return OfResource(words.Exposures)
	case !target.Clients:
		return OfServers(words.Exposures)
	case slices.Contains(unheldMoments, s.Trigger):
		return words.Exposures
	case words.Outlasts && target.Name == HolderTarget && s.cutsOff() && p.lasts(s.For):
		return PastLease(words.Exposures)
	case target.Name == HolderTarget, words.Name == KillFault && target.Name != WaiterTarget:
		return OfHolders(words.Exposures)
	}
	return words.Exposures
}

// cutsOff reports whether the step leaves its target no way to any server: one that reaches some of them may go on to renew.
func (s Step) cutsOff() bool { return slices.Contains([]string{"", "servers", "everything"}, s.Peer) }

// lasts reports whether a length of time in a schedule, "3.4s" or "1.5ttl", is a lease of the plan or longer.
func (p *Plan) lasts(span string) bool {
	d, inLeases, _ := readSpan(span)
	return d >= time.Duration(p.EffectiveMS+p.GraceMS)*time.Millisecond || inLeases && d >= time.Second
}

// readSpan reads a length of time in a schedule: of a number of leases it is as many seconds.
func readSpan(text string) (d time.Duration, inLeases bool, err error) {
	number, inLeases := strings.CutSuffix(text, "ttl")
	if inLeases {
		number += "s"
	}
	d, err = time.ParseDuration(number)
	return d, inLeases, err
}

// checkSchedule refuses a schedule that no run can have had.
func (p *Plan) checkSchedule() error {
	for i, round := range p.Schedule {
		spans := [][2]string{{"after", round.After}}
		for _, s := range round.Steps {
			spans = append(spans, [2]string{"for", s.For}, [2]string{"rest", s.Rest})
			switch target := TargetNamed(s.Target); {
			case !slices.Contains(nemeses()[1:], s.Fault):
				return mistakef("the plan's schedule has fault %.100q in round %d; known are %s", s.Fault, i+1, list(nemeses()[1:]))
			case s.Target != "" && !slices.ContainsFunc(Targets, func(known Target) bool { return known.Name == target.Name }):
				return mistakef("the plan's schedule has target %.100q in round %d, which no fault can be aimed at", s.Target, i+1)
			}
		}
		for _, span := range spans {
			if d, _, err := readSpan(span[1]); span[1] != "" && (err != nil || d < 0) {
				return mistakef("the plan's schedule has %s %q in round %d: it is a time from 0, such as 800ms or 0.5ttl", span[0], span[1], i+1)
			}
		}
	}
	return nil
}

// unheldMoments are those whose client does not believe in its lock, not yet or not any more: a fault that waits for one meets no holder.
var unheldMoments = []string{MomentRemoving, MomentExpiring}

// Moments that rules know by name.
const (
	MomentRemoving = "removing"
	MomentExpiring = "expiring"
)

// InTurn is the word of a fault that comes to its targets one after another.
const InTurn = "rolling"

// Targets of faults that rules know by name.
const (
	HolderTarget = "holder"
	WaiterTarget = "waiter"
)

// Target is what the name of a fault's target means.
type Target struct {
	Name    string
	Clients bool // clients, not servers
	// Many is how many of so many servers it means at once; nil for one.
	Many func(servers int) int

	numbers int // how many are named by their numbers
}

// Minority is the largest part of so many servers that is less than half of them.
func Minority(servers int) int { return (servers - 1) / 2 }

// Majority is the smallest part of so many servers that is more than half of them.
func Majority(servers int) int { return servers/2 + 1 }

// All is all of so many servers.
func All(servers int) int { return servers }

// Targets is the table of them, other sides of cuts included.
var Targets = []Target{
	{Name: HolderTarget, Clients: true}, {Name: WaiterTarget, Clients: true}, {Name: "client", Clients: true}, {Name: "clients", Clients: true},
	{Name: "node"}, {Name: "one"}, {Name: "leader"}, {Name: "follower"}, {Name: "apiserver"}, {Name: "servers"}, {Name: "everything"}, {Name: ResourceTarget},
	{Name: "minority", Many: Minority}, {Name: "majority", Many: Majority}, {Name: "all", Many: All}, {Name: "bridge", Many: Minority},
}

// TargetNamed finds a target by its name, which numbers may follow: "node(1,2)".
func TargetNamed(text string) Target {
	name, numbers, numbered := strings.Cut(text, "(")
	t := Target{Name: name}
	if i := slices.IndexFunc(Targets, func(t Target) bool { return t.Name == name }); i >= 0 {
		t = Targets[i]
	}
	if numbered {
		t.numbers = strings.Count(numbers, ",") + 1
	}
	return t
}

// Size is how many it means at least, of so many servers.
func (t Target) Size(servers int) int {
	if t.Many != nil {
		return t.Many(servers)
	}
	return cmp.Or(t.numbers, 1)
}
