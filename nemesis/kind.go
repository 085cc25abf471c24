package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// Kind is one kind of fault: its entry in the table of faults (checker/history/faults.go), and how it is done. Each is one file.
type Kind struct {
	Name string
	history.FaultKind
	behaviour
	defaults defaults
}

// behaviour is how a fault is done.
type behaviour struct {
	begin   func(context.Context, *act) error
	suffers func(Target) bool // whether a target is one that can suffer it; nil for a fault of the service as a whole
	bounds  func(Fault) error // refuses magnitudes that the grammar has and this kind cannot be given; nil for none
}

// on is a fault that targets can suffer which are a T; of the others it says what they cannot be.
func on[T any](what string, begin func(ctx context.Context, a *act, target T) error) behaviour {
	return behaviour{
		begin: func(ctx context.Context, a *act) error {
			target, ok := a.target.(T)
			if !ok {
				return unable(a.target, what)
			}
			return begin(ctx, a, target)
		},
		suffers: func(t Target) bool { _, ok := t.(T); return ok },
	}
}

// bounded refuses some magnitudes.
func (b behaviour) bounded(bounds func(Fault) error) behaviour {
	b.bounds = bounds
	return b
}

// CanHit reports whether a target is one that can suffer the fault.
func (k *Kind) CanHit(t Target) bool { return k.suffers == nil || k.suffers(t) }

// defaults is what is filled in where nothing was asked for.
type defaults struct {
	of    Range // how long
	rest  Range // of a fault that does not last: how long until the next one
	shift Range
	share float64
	rate  int64
	delay Range
}

// behaviours are by the names of faults. Each file of a fault adds its own.
var behaviours = map[history.F]behaviour{}

// does says how the fault of an entry is done.
func does(name history.F, how behaviour) behaviour {
	behaviours[name] = how
	return how
}

// Kinds are the nemeses there are, in the order in which they are listed.
var Kinds []Kind

// words are the options that some kind has.
var words []string

// init breaks the cycle between the table and the parser that Default goes through.
func init() {
	Kinds = []Kind{none}
	for _, entry := range history.Faults() {
		how, known := behaviours[entry.Name]
		if !known {
			panic("no file of package nemesis says how a fault of the table is done: " + string(entry.Name))
		}
		delete(behaviours, entry.Name)
		Kinds = append(Kinds, newKind(entry, how))
		for _, word := range entry.Options {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	for name := range behaviours {
		panic("a fault has no entry in the table (checker/history/faults.go): " + string(name))
	}
}

// newKind reads what an entry has in the words of the grammar.
func newKind(entry history.FaultKind, how behaviour) Kind {
	usual := entry.Usual
	return Kind{
		Name: string(entry.Name), FaultKind: entry, behaviour: how,
		defaults: defaults{
			of: usually(usual.For, parseRange), rest: usually(usual.Rest, parseRange), shift: usually(usual.Shift, parseRange),
			share: usually(usual.Share, parsePercent), rate: usually(usual.Rate, parseRate), delay: usually(usual.Delay, parseRange),
		},
	}
}

// usually reads a magnitude of the table; the zero value if there is none.
func usually[T any](text string, parse func(string) (T, error)) (usual T) {
	if text == "" {
		return usual
	}
	usual, err := parse(text)
	if err != nil {
		panic("the table of faults: " + err.Error())
	}
	return usual
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

// check refuses what the kind has no use for, by name.
func (k *Kind) check(f Fault) error {
	refuse := func(part string, more ...string) error {
		return fmt.Errorf("%s takes no %s%s", k.Name, part, strings.Join(more, ""))
	}
	for _, c := range []struct {
		given, taken bool
		part         string
	}{
		{f.Target.Name != "", len(k.Targets) > 0, "target"},
		{f.Peer.Name != "", k.Takes.Peer, "other side (-" + f.Peer.String() + ")"},
		{f.Shift.given(), k.Takes.Shift, "shift"},
		{f.Drift != 0, k.Takes.Drift, "drift"},
		{f.Share != 0, k.Takes.Share, "share (" + percent(f.Share) + ")"},
		{f.Rate != 0, k.Takes.Rate, "rate (" + rateText(f.Rate) + ")"},
		{f.Latency != 0, k.Takes.Latency, "slow="},
		{f.For.given() || f.Trigger != "", k.Name != none.Name, "duration or trigger"},
	} {
		if c.given && !c.taken {
			return refuse(c.part, "; for example ", k.example())
		}
	}
	if f.Target.Name != "" && !slices.Contains(k.Targets, f.Target.Name) {
		return refuse("target "+f.Target.Name, "; it takes: ", strings.Join(k.Targets, ", "))
	}
	for _, word := range f.Words {
		if !slices.Contains(k.Options, word) {
			return refuse("option "+word, "; it takes: ", strings.Join(append([]string{"none but those of the grammar"}, k.Options...), ", "))
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
func (f Fault) comesInTurn() bool { return f.has(history.InTurn) }

// contradictory are options of which a fault has one at most, and what to do instead.
var contradictory = [][3]string{
	{"in", "out", "without either, it is done both ways"},
	{"wall", "monotonic", "a sequence can have one step for each"},
	{"stall", "error", "a mix can have both, one after the other: disk:one,stall,disk:one,error"},
}

// fill completes a fault. Who asks for a holder means one at work, unless a moment is named.
func (k *Kind) fill(f Fault) Fault {
	if f.Target.Name == "" && len(k.Targets) > 0 {
		f.Target.Name = k.Targets[0]
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
	drawnStep
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

// none disturbs nothing: what goes wrong under it goes wrong by itself.
var none = Kind{
	Name:      history.NoNemesis,
	FaultKind: history.FaultKind{About: "no faults: clients only contend for the lock"},
}
