package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/agent/delay"
)

// Schedule is what FromSchedule reads.
func (s *schedule) Schedule() []history.Round {
	rounds := make([]history.Round, len(s.rounds))
	for i, round := range s.rounds {
		rounds[i].After = round.Gap.String()
		for _, step := range round.Steps {
			rounds[i].Steps = append(rounds[i].Steps, step.recorded())
		}
	}
	return rounds
}

// recorded is the step in words of the grammar.
func (s drawnStep) recorded() history.Step {
	s = s.pinned()
	r := history.Step{
		Fault: s.Kind, Target: s.Target.String(), Peer: s.Peer.String(), Trigger: string(s.Trigger), IntoWork: s.WorkFraction,
		Words: s.Words, Pick: s.pick,
	}
	if s.Shift.given() {
		if r.Shift = s.Jump.String(); s.Jump >= 0 {
			r.Shift = "+" + r.Shift
		}
	}
	if s.Drift != 0 {
		r.Drift = percent(s.Drift)
	}
	if s.Share != 0 {
		r.Share = percent(s.Share)
	}
	if s.Rate != 0 {
		r.Rate = rateText(s.Rate)
	}
	if s.Delay.given() {
		r.Delay = s.Amount.Mean.String()
		if s.Amount.Spread != 0 {
			r.Delay += "±" + s.Amount.Spread.String()
		}
	}
	if s.Latency != 0 {
		r.Slow = s.Latency.String()
	}
	switch {
	case s.For.given():
		r.For = s.Hold.String()
	case s.Hold != 0:
		r.Rest = s.Hold.String()
	}
	return r
}

// pinned has what was drawn in the place of what it was drawn from, and nothing that means nothing to the step: it is all there is to it.
func (s drawnStep) pinned() drawnStep {
	pin := func(r *Range, drawn time.Duration) {
		if r.given() {
			*r = exactly(drawn)
		}
	}
	pin(&s.For, s.Hold)
	pin(&s.Shift, s.Jump)
	pin(&s.Delay, s.Amount.Mean)
	if pin(&s.Spread, s.Amount.Spread); s.Amount.Spread == 0 {
		s.Spread = Range{}
	}
	if s.Trigger != AtWork {
		s.WorkFraction = 0
	}
	s.timed, s.fromDefault = false, false
	return s
}

// Misplaced is a mistake in a schedule: where it is, and what is wrong there.
type Misplaced struct {
	Round, Step int    // from 0; Step is -1 for the round as a whole
	Field       string // as JSON has it; "" for the step, or the round, as a whole
	Err         error
}

func (m *Misplaced) Error() string {
	where := fmt.Sprintf("round %d", m.Round+1)
	if m.Step >= 0 {
		where += fmt.Sprintf(", step %d", m.Step+1)
	}
	if m.Field != "" {
		where += ", " + m.Field
	}
	return where + ": " + m.Err.Error()
}

func (m *Misplaced) Unwrap() error { return m.Err }

// FromSchedule is the nemesis that plays exactly these rounds. What the run cannot have is refused as New refuses it. The error joins
// a *Misplaced for each mistake.
func FromSchedule(rounds []history.Round, conditions Conditions) (Nemesis, error) {
	s := &schedule{ttl: conditions.TTL}
	var wrong []error
	var single []Fault
	seen := map[string]bool{}
	for i, recorded := range rounds {
		round, err := readRound(recorded, conditions)
		if err != nil {
			err.Round = i
			wrong = append(wrong, err)
			continue
		}
		round.bound(conditions.TTL)
		s.rounds = append(s.rounds, round)
		sequence := round.spec()
		if len(sequence) == 1 {
			single = append(single, sequence[0][0])
		} else if text := sequence.String(); !seen[text] {
			seen[text] = true
			s.specs = append(s.specs, sequence)
		}
	}
	if len(single) > 0 {
		s.specs = append([]Spec{{single}}, s.specs...)
	}
	return s, errors.Join(wrong...)
}

// spec is the round as --nemesis could ask for it.
func (r drawnRound) spec() (s Spec) {
	for _, step := range r.Steps {
		s = append(s, []Fault{step.Fault})
	}
	return s
}

func (s Spec) String() string {
	var steps []string
	for _, mix := range s {
		var faults []string
		for _, f := range mix {
			faults = append(faults, f.String())
		}
		steps = append(steps, strings.Join(faults, ","))
	}
	return strings.Join(steps, ";")
}

func readRound(recorded history.Round, conditions Conditions) (round drawnRound, _ *Misplaced) {
	var err error
	if round.Gap, err = exactTime(recorded.After, conditions.TTL); err != nil {
		return round, &Misplaced{Step: -1, Field: "after", Err: fmt.Errorf("%w: how long nothing is wrong before the round", err)}
	}
	if len(recorded.Steps) == 0 {
		return round, &Misplaced{Step: -1, Field: "steps", Err: errors.New("a round has at least one step")}
	}
	for i, text := range recorded.Steps {
		step, field, err := readStep(text, conditions, i == len(recorded.Steps)-1)
		if err == nil {
			_, err = Spec{{step.Fault}}.check(step.String(), conditions)
		}
		if err != nil {
			return round, &Misplaced{Step: i, Field: field, Err: err}
		}
		round.Steps = append(round.Steps, step)
	}
	if sequence := round.spec(); len(sequence) > 1 {
		err := sequence.checkSequence()
		if err == nil {
			err = sequence.checkSingle()
		}
		if err != nil {
			return round, &Misplaced{Step: -1, Field: "steps", Err: err}
		}
	}
	for i := range round.Steps {
		round.Steps[i] = round.Steps[i].pinned()
	}
	return round, nil
}

// readStep returns the name of the field that is wrong, "" if it is the step as a whole.
func readStep(r history.Step, conditions Conditions, last bool) (s drawnStep, field string, err error) {
	kind := kindNamed(r.Fault)
	switch {
	case kind == nil:
		return s, "fault", history.Unknown("nemesis", r.Fault, Names())
	case kind.Name == none.Name:
		return s, "fault", fmt.Errorf("%q does nothing: leave the step out", none.Name)
	}
	f := Fault{Kind: r.Fault}
	for _, p := range parts {
		if text := p.of(r); text != "" {
			if err := p.read(&f, text); err != nil {
				return s, p.field, fmt.Errorf("%q: %w", text, err)
			}
		}
	}
	for _, word := range r.Words {
		if !slices.Contains(words, word) {
			return s, "words", history.Unknown("option", word, words)
		}
		if err := f.takeOption(word); err != nil {
			return s, "words", fmt.Errorf("%q: %w", word, err)
		}
	}
	if err := kind.check(f); err != nil {
		return s, "", fmt.Errorf("%s: %w", f, err)
	}
	f = kind.fill(f)
	s = drawnStep{Fault: f, WorkFraction: r.IntoWork, pick: r.Pick}
	if field, err = s.settle(r, conditions.TTL, last); err != nil {
		return s, field, err
	}
	if !(r.IntoWork >= 0 && r.IntoWork < 1) || r.IntoWork != 0 && f.Trigger != AtWork {
		return s, "into_work", errors.New("it is which part of a holder's work is done when the fault comes, from 0 to less than 1, and only of trigger work")
	}
	return s, "", nil
}

// parts are the fields of a step that are one word of the grammar each.
var parts = []struct {
	field string
	of    func(history.Step) string
	read  func(f *Fault, text string) error
}{
	{"target", func(r history.Step) string { return r.Target }, func(f *Fault, text string) error { return wholeRole(&f.Target, text) }},
	{"peer", func(r history.Step) string { return r.Peer }, func(f *Fault, text string) error { return wholeRole(&f.Peer, text) }},
	{"trigger", func(r history.Step) string { return r.Trigger }, func(f *Fault, text string) (err error) {
		f.Trigger, err = triggerNamed(text)
		return err
	}},
	{"shift", func(r history.Step) string { return r.Shift }, readShift},
	{"drift", func(r history.Step) string { return r.Drift }, func(f *Fault, text string) error { return f.takeOption("drift=" + text) }},
	{"share", func(r history.Step) string { return r.Share }, func(f *Fault, text string) error {
		if _, err := parsePercent(text); err != nil {
			return err
		}
		return f.takeOption(text)
	}},
	{"rate", func(r history.Step) string { return r.Rate }, func(f *Fault, text string) (err error) {
		f.Rate, err = parseRate(text)
		return err
	}},
	{"delay", func(r history.Step) string { return r.Delay }, func(f *Fault, text string) error {
		if !kindNamed(f.Kind).Takes.Delay {
			return fmt.Errorf("%s takes no delay", f.Kind)
		}
		if err := f.takeDelay(text); err != nil {
			return err
		}
		return f.Delay.one()
	}},
	{"slow", func(r history.Step) string { return r.Slow }, func(f *Fault, text string) error { return f.takeOption(slowOption + text) }},
	{"for", func(r history.Step) string { return r.For }, func(f *Fault, text string) (err error) {
		f.timed = true
		f.For, err = oneMagnitude(text)
		return err
	}},
}

func wholeRole(role *Role, text string) (err error) {
	var rest string
	if *role, rest, err = parseRole(text); err == nil && rest != "" {
		err = fmt.Errorf("%q is not understood behind %s", rest, role)
	}
	return err
}

func readShift(f *Fault, text string) (err error) {
	if text[0] != '+' && text[0] != '-' {
		return errors.New("a shift has a sign: write +90s or -1.5ttl")
	}
	if f.Shift, err = oneMagnitude(text[1:]); err == nil && text[0] == '-' {
		f.Shift = f.Shift.negated()
	}
	return err
}

// oneMagnitude reads a magnitude that nothing is drawn from.
func oneMagnitude(text string) (r Range, err error) {
	if d, err := time.ParseDuration(text); err == nil && d == 0 {
		return exactly(0), nil // what was drawn can be less than the millisecond that it is rounded to
	}
	if r, err = parseRange(text); err != nil {
		return r, err
	}
	return r, r.one()
}

// one refuses a range to draw from.
func (r Range) one() error {
	if r.Low != r.High {
		return errors.New("nothing is drawn for a plan file: name one magnitude, not two")
	}
	return nil
}

// exact is the magnitude of a range that has one.
func (r Range) exact(ttl time.Duration) time.Duration { return r.draw(random(0), ttl) }

// settle fills in the times of a step. What a spec leaves to the seed has to be there.
func (s *drawnStep) settle(r history.Step, ttl time.Duration, last bool) (field string, err error) {
	kind := kindNamed(s.Kind)
	switch {
	case r.For == "" && !last:
		s.For = Range{} // it lasts until the last step of its round is over; one with a length of its own, for that
	case r.For == "" && s.For.given():
		return "for", errors.New("how long it lasts is missing: write 1.5ttl or 3s")
	case s.Shift.one() != nil:
		return "shift", errors.New("a shift or a drift is missing: write +90s or -1.5ttl")
	}
	s.Hold, s.Jump = s.For.exact(ttl), s.Shift.exact(ttl)
	if s.Delay.given() {
		s.Amount = delay.Amount{Mean: s.Delay.exact(ttl), Spread: s.Spread.exact(ttl)}
	}
	if r.Rest == "" {
		return "", nil
	}
	if !kind.defaults.rest.given() || s.For.given() {
		return "rest", fmt.Errorf("%s takes no rest: only a fault that does not last does (power without a duration)", s.Fault)
	}
	s.Hold, err = exactTime(r.Rest, ttl)
	return "rest", err
}

// exactTime reads a length of time from 0, also in TTLs.
func exactTime(text string, ttl time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, errors.New("a time is missing: write 800ms or 0.5ttl")
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 && d <= maxSeconds*time.Second {
		return d, nil
	}
	r, err := oneMagnitude(text)
	return r.exact(ttl), err
}
