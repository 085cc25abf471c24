package nemesis

import (
	"time"

	"lockcheck/checker/history"
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
