package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// Kind is one kind of fault: what it can be asked for, and how it is done. Each is one file.
type Kind struct {
	Name  string
	About string
	// Default is the mix that the bare name stands for: the first is drawn every second time, because it is what a run
	// under this kind is for; the others in between.
	Default string

	needs    Capability // of the helper on its target's host, or of the service; "" for none
	targets  []string   // that it can be aimed at, the default one first; none: it is aimed at the service as a whole
	defaults defaults
	accepts  accepts
	words    []string          // options that are words, for example "empty"
	bounds   func(Fault) error // refuses magnitudes that the grammar has and this kind cannot be given; nil for none
	single   bool              // a target suffers one at a time
	inTurn   func(Fault) bool  // whether it comes to its targets one after another; nil: to all at once
	begin    func(context.Context, *act) error
	// requires is what must have happened (rule J9) for a fault with such a target.
	requires func(Fault) []string
}

// defaults is what is filled in where nothing was asked for.
type defaults struct {
	of    Range // how long
	rest  Range // of a fault that does not last: how long until the next one
	shift Range
	share float64
	rate  int64
	delay Range
}

// accepts says which parts of the grammar mean something to a kind.
type accepts struct{ peer, shift, drift, share, rate, delay, latency bool }

// Kinds are the nemeses there are, in the order in which they are listed.
var Kinds []Kind

// words are the options that some kind has.
var words []string

// init breaks the cycle between the table and the parser that Default goes through.
func init() {
	Kinds = []Kind{none, pause, partition, kill, clock, failover, loss, rate, slow, restart, delayed, diskFault, power}
	for _, k := range Kinds {
		for _, word := range k.words {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
}

func kindNamed(name string) *Kind {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &Kinds[i]
}

// Names lists the nemeses.
func Names() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// Options lists the options that are words.
func Options() []string { return slices.Clone(words) }

// ofWhom requires one fault of what it was aimed at: a holder, a server, any target.
func ofWhom(f Fault) []string {
	switch {
	case f.Target.Name == roleHolder:
		return []string{history.OfHolders(f.exposures())}
	case roles[f.Target.Name].clients:
		return []string{f.exposures()}
	case f.Target.Name == roleResource:
		return []string{history.OfResource(f.exposures())}
	}
	return []string{history.OfServers(f.exposures())}
}

// exposures names what is counted of such faults.
func (f Fault) exposures() string { return history.WordsOf(history.F(f.Kind)).Exposures }

// required is what must have happened for a fault of this kind.
func (k *Kind) required(f Fault) []string {
	if f.Trigger.unheld() && roles[f.Target.Name].clients {
		return []string{f.exposures()}
	}
	return k.requires(f)
}

// check refuses what the kind has no use for, by name.
func (k *Kind) check(f Fault) error {
	refuse := func(part string, more ...string) error {
		return fmt.Errorf("%s takes no %s%s", k.Name, part, strings.Join(more, ""))
	}
	for _, c := range []struct {
		given, taken bool
		part         string
	}{
		{f.Target.Name != "", len(k.targets) > 0, "target"},
		{f.Peer.Name != "", k.accepts.peer, "other side (-" + f.Peer.String() + ")"},
		{f.Shift.given(), k.accepts.shift, "shift"},
		{f.Drift != 0, k.accepts.drift, "drift"},
		{f.Share != 0, k.accepts.share, "share (" + percent(f.Share) + ")"},
		{f.Rate != 0, k.accepts.rate, "rate (" + rateText(f.Rate) + ")"},
		{f.Latency != 0, k.accepts.latency, "slow="},
		{f.For.given() || f.Trigger != "", k.Name != none.Name, "duration or trigger"},
	} {
		if c.given && !c.taken {
			return refuse(c.part, "; for example ", k.example())
		}
	}
	if f.Target.Name != "" && !slices.Contains(k.targets, f.Target.Name) {
		return refuse("target "+f.Target.Name, "; it takes: ", strings.Join(k.targets, ", "))
	}
	for _, word := range f.Words {
		if !slices.Contains(k.words, word) {
			return refuse("option "+word, "; it takes: ", strings.Join(append([]string{"none but those of the grammar"}, k.words...), ", "))
		}
	}
	for _, pair := range contradictory {
		if f.has(pair[0]) && f.has(pair[1]) {
			return fmt.Errorf("%s and %s exclude each other; %s", pair[0], pair[1], pair[2])
		}
	}
	if f.Latency != 0 && (f.has("stall") || f.has("error")) {
		return fmt.Errorf("a disk stands still (stall), is slow (slow=50ms) or fails (error): name one; a mix can have both, one after the other: disk:one,stall,disk:one,error")
	}
	if k.bounds != nil {
		return k.bounds(f)
	}
	return nil
}

// example is a fault of the kind with all that is filled in.
func (k *Kind) example() string {
	if k.Default == "" {
		return k.Name
	}
	some, err := parseMix(k.Default)
	if err != nil {
		return k.Name
	}
	return some[0].String()
}

// comesInTurn reports whether the fault comes to its targets one after another.
func (f Fault) comesInTurn() bool {
	inTurn := kindNamed(f.Kind).inTurn
	return inTurn != nil && inTurn(f)
}

// contradictory are options of which a fault has one at most, and what to do instead.
var contradictory = [][3]string{
	{"in", "out", "without either, it is done both ways"},
	{"wall", "monotonic", "a sequence can have one step for each"},
	{"stall", "error", "a mix can have both, one after the other: disk:one,stall,disk:one,error"},
}

// fill completes a fault. Who asks for a holder means one at work, unless a moment is named.
func (k *Kind) fill(f Fault) Fault {
	if f.Target.Name == "" && len(k.targets) > 0 {
		f.Target.Name = k.targets[0]
	}
	if f.Trigger == "" {
		f.Trigger = AtIntervals
		if f.Target.Name == roleHolder {
			f.Trigger = AtWork
		}
	}
	if !f.For.given() {
		f.For = k.defaults.of
	}
	if !f.Shift.given() && f.Drift == 0 {
		f.Shift = k.defaults.shift
	}
	if f.Share == 0 {
		f.Share = k.defaults.share
	}
	if f.Rate == 0 {
		f.Rate = k.defaults.rate
	}
	if !f.Delay.given() {
		f.Delay = k.defaults.delay
	}
	return f
}

// act is one fault on one target, on its way.
type act struct {
	Step
	env    Env
	target Target
	event  history.Event // of the injection; Detail is begin's to fill in
	// since is when the fault began to work, where that was seen later only: in the time of invoked, when it was decided.
	invoked, since time.Time
	// undo takes back what begin did, also what it did only half; nil when there is nothing to take back.
	undo    func(context.Context) error
	refused error // why it is not begun; nil if it is
	meeting attendance
}

// tell notes what was seen of the fault, or returns why nothing was.
func (a *act) tell(seen string, err error) error {
	if err == nil {
		a.event.Detail = seen
	}
	return err
}

// unable is the error of a target that cannot suffer a fault.
func unable(t Target, what string) error {
	return fmt.Errorf("%s cannot be %s here", t.Name(), what)
}
