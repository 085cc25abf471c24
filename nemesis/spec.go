package nemesis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/vdso"
)

// The grammar of --nemesis:
//
//	spec     = sequence
//	sequence = mix { ";" mix }             more than one: steps that stay until the last one's time is over, or their own is
//	mix      = fault { "," fault }         drawn from over the run
//	fault    = kind [ ":" role [ "-" role ] ] { shift | "@" trigger } { "," option }
//	role     = name [ "(" number { "," number } ")" ]
//	shift    = ( "+" | "-" ) range         of a clock
//	option   = range | delay | percent | "drift=" percent | "slow=" magnitude | rate | word
//	rate     = number ( "bit" | "kbit" | "mbit" )
//	delay    = range [ ( "±" | "+-" ) magnitude ]     of a delay: the first range; the second is how long it lasts
//	range    = magnitude [ ".." magnitude ]
//
// An item after a comma that begins with the name of a kind is a new fault; anything else is an option of the one
// before it.

// Fault is one fault as it was asked for; what was not given is filled in by its kind.
type Fault struct {
	Kind    string
	Target  Role
	Peer    Role // partition, loss, delay: the other side
	Trigger Trigger
	For     Range   // how long
	Shift   Range   // clock: a jump
	Drift   float64 // clock: 0.05 runs 5 % fast
	Share   float64 // loss: of the packets; slow: of the processor; 0 to 1
	Rate    int64   // rate: in bits a second
	Delay   Range   // delay: of each packet, give or take Spread
	Spread  Range
	Latency time.Duration // disk: how much longer each request takes
	Words   []string

	timed       bool // For was asked for, not filled in
	fromDefault bool // it was asked for by its kind's bare name only
}

// Role is what a fault is aimed at: a part that a client or server plays at the moment, or members by their numbers, from 1.
type Role struct {
	Name    string
	Numbers []int
}

// String is the role as the grammar writes it.
func (r Role) String() string {
	if len(r.Numbers) == 0 {
		return r.Name
	}
	var numbers []string
	for _, n := range r.Numbers {
		numbers = append(numbers, strconv.Itoa(n))
	}
	return r.Name + "(" + strings.Join(numbers, ",") + ")"
}

func (f Fault) has(word string) bool { return slices.Contains(f.Words, word) }

// String is the fault as the grammar writes it.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Kind)
	if f.Target.Name != "" {
		b.WriteString(":" + f.Target.String())
	}
	if f.Peer.Name != "" {
		b.WriteString("-" + f.Peer.String())
	}
	switch {
	case f.Shift.given() && f.Shift.High <= 0:
		b.WriteString("-" + f.Shift.negated().String())
	case f.Shift.given():
		b.WriteString("+" + f.Shift.String())
	}
	if f.Trigger != "" && f.Trigger != AtIntervals {
		b.WriteString("@" + string(f.Trigger))
	}
	if f.Drift != 0 {
		b.WriteString(",drift=" + percent(f.Drift))
	}
	if f.Share != 0 {
		b.WriteString("," + percent(f.Share))
	}
	if f.Rate != 0 {
		b.WriteString("," + rateText(f.Rate))
	}
	if f.Delay.given() {
		b.WriteString("," + f.delayWords())
	}
	if f.Latency != 0 {
		b.WriteString(",slow=" + f.Latency.String())
	}
	for _, word := range f.Words {
		b.WriteString("," + word)
	}
	if f.For.given() {
		b.WriteString("," + f.For.String())
	}
	return b.String()
}

// Spec is what --nemesis asked for: mixes, more than one of which make a sequence.
type Spec [][]Fault

// Parse reads a spec. The error names the part that is wrong and what could stand there.
func Parse(text string) (Spec, error) {
	var spec Spec
	for _, step := range splitOutside(text, ';') {
		mix, err := parseMix(step)
		if err != nil {
			if step != text {
				err = fmt.Errorf("in %q: %w", step, err)
			}
			return nil, err
		}
		spec = append(spec, mix)
	}
	if len(spec) > 1 {
		if err := spec.checkSequence(); err != nil {
			return spec, err
		}
		return spec, spec.checkSingle()
	}
	return spec, nil
}

// checkSequence refuses what has no meaning in a sequence.
func (s Spec) checkSequence() error {
	for i, mix := range s {
		switch {
		case len(mix) > 1:
			return fmt.Errorf("step %d of the sequence mixes faults; a step is one fault", i+1)
		case mix[0].Kind == none.Name:
			return fmt.Errorf("step %d of the sequence is %q, which does nothing", i+1, none.Name)
		case i < len(s)-1 && mix[0].comesInTurn():
			return fmt.Errorf("step %d of the sequence comes to its targets in turn (%s), and is over before the next one; put it last", i+1, mix[0])
		case mix[0].Rate != 0 && slices.ContainsFunc(s, func(other []Fault) bool { return kindNamed(other[0].Kind).SpoilsTransfers }):
			return fmt.Errorf("step %d of the sequence limits a rate, which is seen by a transfer: %s cannot be in the same sequence", i+1, strings.Join(spoilsTransfers(), " or "))
		case i < len(s)-1 && !mix[0].timed:
			mix[0].For = Range{}
		}
	}
	return nil
}

func parseMix(text string) ([]Fault, error) {
	var mix []Fault
	for _, item := range splitOutside(text, ',') {
		item = strings.TrimSpace(item)
		kind, isNew := kindAtStart(item)
		switch {
		case isNew:
			fault, err := parseHead(kind, item)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", item, err)
			}
			mix = append(mix, fault)
		case len(mix) == 0:
			return nil, history.Unknown("nemesis", cmp.Or(upTo(item, ":@+-"), item), Names())
		default:
			if err := mix[len(mix)-1].takeOption(item); err != nil {
				return nil, fmt.Errorf("%q: %w", item, err)
			}
		}
	}
	var whole []Fault
	for _, fault := range mix {
		completed, err := fault.complete()
		if err != nil {
			return nil, err
		}
		if fault.Kind == none.Name && len(mix) > 1 {
			return nil, fmt.Errorf("%q cannot be mixed with faults", none.Name)
		}
		whole = append(whole, completed...)
	}
	return whole, nil
}

// complete fills in what was not given. A bare name stands for its kind's default mix.
func (f Fault) complete() ([]Fault, error) {
	kind := kindNamed(f.Kind)
	if f.bare() && kind.Default != "" {
		byDefault, err := parseMix(kind.Default)
		for i := range byDefault {
			byDefault[i].fromDefault = true
		}
		return byDefault, err
	}
	if err := kind.check(f); err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return []Fault{kind.fill(f)}, nil
}

func (f Fault) bare() bool { return f.String() == f.Kind }

// kindAtStart finds the kind whose name the item begins with, and ends with or goes on after with a delimiter.
func kindAtStart(item string) (string, bool) {
	name := item
	if i := strings.IndexAny(item, ":@+-"); i >= 0 {
		name = item[:i]
	}
	if kindNamed(name) == nil {
		return "", false
	}
	return name, true
}

func parseHead(kind, item string) (fault Fault, err error) {
	fault.Kind = kind
	rest := item[len(kind):]
	if after, ok := strings.CutPrefix(rest, ":"); ok {
		if fault.Target, rest, err = parseRole(after); err != nil {
			return fault, err
		}
	}
	for rest != "" {
		switch {
		case rest[0] == '@':
			name := upTo(rest[1:], "+-@:")
			if fault.Trigger, err = triggerNamed(name); err != nil {
				return fault, err
			}
			rest = rest[1+len(name):]
		case (rest[0] == '+' || rest[0] == '-') && len(rest) > 1 && isDigit(rest[1]):
			amount := upTo(rest[1:], "@+-:")
			if fault.Shift, err = parseRange(amount); err != nil {
				return fault, err
			}
			if rest[0] == '-' {
				fault.Shift = fault.Shift.negated()
			}
			rest = rest[1+len(amount):]
		case rest[0] == '-' && fault.Peer.Name == "":
			if fault.Peer, rest, err = parseRole(rest[1:]); err != nil {
				return fault, err
			}
		default:
			return fault, fmt.Errorf("%q is not understood; after %s come a target (:holder), the other side (-resource), a shift (+90s), a trigger (@work), then options after commas", rest, kind)
		}
	}
	return fault, nil
}

func parseRole(text string) (role Role, rest string, err error) {
	role.Name = upTo(text, "(@+-:")
	rest = text[len(role.Name):]
	known, ok := roles[role.Name]
	if !ok {
		return role, rest, history.Unknown("target", role.Name, roleNames())
	}
	if !strings.HasPrefix(rest, "(") {
		return role, rest, nil
	}
	inside, after, closed := strings.Cut(rest[1:], ")")
	if !closed {
		return role, rest, fmt.Errorf("%q has no closing parenthesis", rest)
	}
	if !known.numbered {
		return role, rest, fmt.Errorf("target %s takes no numbers; client and node do: node(1,2)", role.Name)
	}
	for _, word := range strings.Split(inside, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 1000 || slices.Contains(role.Numbers, n) {
			return role, rest, fmt.Errorf("%q in %s(%s) is not a number from 1, each once", word, role.Name, inside)
		}
		role.Numbers = append(role.Numbers, n)
	}
	return role, after, nil
}

// takeOption reads what stands after a comma: its form says what it is. A second one of a form would replace the first.
func (f *Fault) takeOption(text string) error {
	before := *f
	if err := f.readOption(text); err != nil {
		return err
	}
	for _, c := range []struct {
		twice bool
		part  string
	}{
		{before.timed && f.For != before.For, "a duration already: " + before.For.String()},
		{before.Drift != 0 && f.Drift != before.Drift, "a drift already: " + percent(before.Drift)},
		{before.Latency != 0 && f.Latency != before.Latency, "a slowness already: " + before.Latency.String()},
	} {
		if c.twice {
			return errors.New("it has " + c.part)
		}
	}
	return nil
}

func (f *Fault) readOption(text string) (err error) {
	switch drift, isDrift := strings.CutPrefix(text, "drift="); {
	case isDrift:
		if f.Drift, err = parsePercent(drift); err == nil && !(f.Drift >= -0.99 && f.Drift <= vdso.MaxDrift && f.Drift != 0) {
			err = fmt.Errorf("a drift is from -99%% to %d%% and not 0", 100*vdso.MaxDrift)
		}
	case strings.HasPrefix(text, slowOption):
		f.Latency, err = parseLatency(text[len(slowOption):])
	case strings.HasSuffix(text, "%") && f.Share != 0:
		err = fmt.Errorf("it has a share already: %s", percent(f.Share))
	case strings.HasSuffix(text, "%"):
		if f.Share, err = parsePercent(text); err == nil && !(f.Share > 0 && f.Share <= 1) {
			err = fmt.Errorf("a share is above 0%% and at most 100%%, one of a processor (slow) from %s to %s", percent(minProcessor), percent(maxProcessor))
		}
	case f.isRate(text) && f.Rate != 0:
		err = fmt.Errorf("it has a rate already: %s", rateText(f.Rate))
	case f.isRate(text):
		f.Rate, err = parseRate(text)
	case slices.Contains(f.Words, text):
		err = errors.New("it is given twice")
	case slices.Contains(words, text):
		f.Words = append(f.Words, text)
	case text != "" && isDigit(text[0]) && kindNamed(f.Kind).Takes.Delay && !f.Delay.given():
		err = f.takeDelay(text)
	case text != "" && isDigit(text[0]):
		f.For, err = parseRange(text)
		f.timed = true
	default:
		err = fmt.Errorf("it is neither a fault (%s) nor an option (a duration like 1.5ttl or 2s, a delay like 300ms±100ms, a share like 30%%, a rate like 1mbit, drift=5%%, slow=50ms, %s)",
			strings.Join(Names(), ", "), strings.Join(words, ", "))
	}
	return err
}

// splitOutside splits at a separator that is not inside parentheses.
func splitOutside(text string, separator byte) (parts []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case text[i] == separator && depth <= 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

func upTo(text, ends string) string {
	if i := strings.IndexAny(text, ends); i >= 0 {
		return text[:i]
	}
	return text
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
