package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/agent/delay"
)

// drawnStep is one fault of a schedule with everything drawn that the seed decides.
type drawnStep struct {
	Fault
	Hold         time.Duration // how long it lasts
	Jump         time.Duration // of a clock
	Amount       delay.Amount  // by which packets are held back
	WorkFraction float64       // of the work at which it comes, for faults that wait for work: 0 to 1
	pick         uint64        // which one, where the target leaves a choice
	maxActive    time.Duration // how long it can be until it is taken back: a step of a sequence without a duration stays until the last one is over
}

// drawnRound is a time without faults and then one fault, or a sequence of them that stay until the last one's time is over, or their own is.
type drawnRound struct {
	Gap   time.Duration
	Steps []drawnStep
}

// schedule is a spec drawn from a seed, or read from a plan file.
type schedule struct {
	specs  []Spec // what it is of: one if it was drawn
	ttl    time.Duration
	rounds []drawnRound
}

// between two rounds, before the first too.
const shortestGap, longestGap = 300 * time.Millisecond, 1200 * time.Millisecond

// drawSchedule stratifies: of every kind that was asked for, what it is for comes first and then at least every second
// time; what comes between is drawn freely.
func drawSchedule(spec Spec, conditions Conditions) *schedule {
	s := &schedule{specs: []Spec{spec}, ttl: conditions.TTL}
	if spec[0][0].Kind == none.Name {
		return s
	}
	r := random(conditions.Seed)
	for at := time.Duration(0); at < conditions.Limit; {
		round := drawnRound{Gap: between(r, shortestGap, longestGap)}
		if len(spec) > 1 {
			for _, mix := range spec {
				round.Steps = append(round.Steps, drawStep(r, mix[0], conditions.TTL))
			}
		} else {
			round.Steps = []drawnStep{drawStep(r, chooseFault(r, spec[0], len(s.rounds)), conditions.TTL)}
		}
		round.bound(conditions.TTL)
		s.rounds = append(s.rounds, round)
		at += round.Gap + round.Steps[len(round.Steps)-1].Hold
	}
	return s
}

// bound notes how long each step can be until it is taken back.
func (r drawnRound) bound(ttl time.Duration) {
	maxActive := r.Steps[len(r.Steps)-1].Hold
	for i, step := range slices.Backward(r.Steps) {
		r.Steps[i].maxActive = maxActive
		if step.For.given() {
			r.Steps[i].maxActive = step.Hold
		}
		maxActive += waitTTLs * ttl
	}
}

// chooseFault takes the first fault of each kind in turn at even places, and any at odd ones.
func chooseFault(r *rand.Rand, mix []Fault, place int) Fault {
	any := mix[r.IntN(len(mix))] // drawn always, so that one place's choice does not shift the next one's
	if place%2 == 1 && len(mix) > 1 {
		return any
	}
	var first []Fault
	for _, f := range mix {
		if !slices.ContainsFunc(first, func(g Fault) bool { return g.Kind == f.Kind }) {
			first = append(first, f)
		}
	}
	return first[place/2%len(first)]
}

func drawStep(r *rand.Rand, f Fault, ttl time.Duration) drawnStep {
	step := drawnStep{Fault: f, Hold: f.For.draw(r, ttl), Jump: f.Shift.draw(r, ttl), WorkFraction: 0.1 + 0.4*r.Float64(), pick: r.Uint64()}
	if rest := kindNamed(f.Kind).defaults.rest; !f.For.given() && rest.given() {
		step.Hold = rest.draw(r, ttl)
	}
	if f.Delay.given() { // not drawn otherwise: the schedules of other kinds stay what they are
		step.Amount = delay.Amount{Mean: f.Delay.draw(r, ttl), Spread: f.Spread.draw(r, ttl)}
	}
	return step
}

func (s *schedule) Steps() []string {
	var lines []string
	for _, round := range s.rounds {
		for i, step := range round.Steps {
			when := "then"
			if i == 0 {
				when = fmt.Sprintf("after %v", round.Gap.Round(time.Millisecond))
			}
			lines = append(lines, when+": "+step.words(s.ttl))
		}
	}
	return lines
}

// words says the step in the grammar, with what was drawn.
func (s drawnStep) words(ttl time.Duration) string {
	f := s.Fault
	f.For, f.Shift = Range{}, Range{}
	var drawn []string
	if s.Jump != 0 {
		drawn = append(drawn, fmt.Sprintf("by %+v (%+.2f TTL)", s.Jump, s.Jump.Seconds()/ttl.Seconds()))
	}
	if s.Amount.Mean != 0 {
		f.Delay = Range{}
		drawn = append(drawn, fmt.Sprintf("of %v (%.2f TTL)", s.Amount, s.Amount.Mean.Seconds()/ttl.Seconds()))
	}
	if s.Hold != 0 {
		drawn = append(drawn, fmt.Sprintf("for %v (%.2f TTL)", s.Hold, s.Hold.Seconds()/ttl.Seconds()))
	}
	if s.Trigger == AtWork {
		drawn = append(drawn, fmt.Sprintf("%.0f %% into its work", 100*s.WorkFraction))
	}
	return strings.Join(append([]string{f.String()}, strings.Join(drawn, ", ")), " ")
}

// Run plays rounds until ctx is done, or until a fault cannot be healed.
func (s *schedule) Run(ctx context.Context, env Env) error {
	for _, round := range s.rounds {
		if !sleep(ctx, round.Gap) {
			return nil
		}
		if err := round.run(ctx, env, s.ttl); err != nil {
			return err // what could not be healed spoils all that follows
		}
	}
	<-ctx.Done()
	return nil
}

// waitTTLs bounds how long a step of a sequence waits for its moment: the steps before it may have made it impossible.
const waitTTLs = 10

// patienceTTLs is for how long a step of a sequence waits for a moment of its own turn before one of before that serves: longer than a
// client holds a lock that packets reach a TTL late.
const patienceTTLs = 3

// run does the steps one after another and takes all of them back in the opposite order, those with a time of their own when it is over.
// A round that breaks off takes back all at once.
func (r drawnRound) run(ctx context.Context, env Env, ttl time.Duration) (failed error) {
	var done []*injection
	var own endings
	lasting, breakOff := context.WithCancel(context.WithoutCancel(ctx)) // what the round breaks off is taken back in order
	whole := false
	defer func() {
		failed = errors.Join(failed, healAll(ctx, done))
		if !whole {
			breakOff()
		}
		failed = errors.Join(failed, own.wait())
		breakOff()
	}()
	next := r.Steps[0].listen(env)
	defer func() { next.End() }() // before anything is healed: a client may wait
	for n, step := range r.Steps {
		waiting, cancel := ctx, context.CancelFunc(func() {})
		if n > 0 {
			waiting, cancel = context.WithTimeout(ctx, waitTTLs*ttl)
		}
		moment, err := next.await(waiting, env, patienceTTLs*ttl)
		cancel()
		next.End()
		if err != nil {
			return nil // the run is over, or the moment did not come
		}
		if step.comesInTurn() {
			err := step.runInTurn(ctx, env, moment)
			whole = ctx.Err() == nil
			return err
		}
		if n+1 < len(r.Steps) {
			next = r.Steps[n+1].listenAhead(env)
		}
		injected, took := injectAll(ctx, env, step.aim(ctx, env, moment))
		moment.Pass()
		if last := n+1 == len(r.Steps); took && !last && step.For.given() {
			own.after(lasting, step.Hold, injected)
		} else {
			done = append(done, injected...)
		}
		if !took {
			return nil // recorded as what came of it
		}
		if n+1 < len(r.Steps) {
			next.turn(env)
		}
	}
	whole = sleep(ctx, r.Steps[len(r.Steps)-1].Hold)
	return nil
}

// endings take back the steps of a round that have a time of their own.
type endings struct {
	waiting sync.WaitGroup
	mu      sync.Mutex
	failed  error
}

// after takes back what was injected once a time, or ctx, is over.
func (e *endings) after(ctx context.Context, d time.Duration, injected []*injection) {
	e.waiting.Go(func() {
		sleep(ctx, d)
		err := healAll(ctx, injected)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.failed = errors.Join(e.failed, err)
	})
}

// wait returns once all are taken back.
func (e *endings) wait() error {
	e.waiting.Wait()
	return e.failed
}

// healAll takes faults back in the opposite order.
func healAll(ctx context.Context, injected []*injection) (failed error) {
	for _, i := range slices.Backward(injected) {
		failed = errors.Join(failed, i.heal(ctx))
	}
	return failed
}

// aim finds what the step hits at its moment.
func (s drawnStep) aim(ctx context.Context, env Env, moment Moment) (acts []*act) {
	if len(kindNamed(s.Kind).Targets) == 0 {
		return []*act{s.act(env, service{}, moment)}
	}
	for _, t := range roles[s.Target.Name].find(ctx, aim{env: env, role: s.Target, moment: moment, pick: s.pick}) {
		acts = append(acts, s.act(env, t, moment))
	}
	if len(acts) == 0 {
		return []*act{s.act(env, noTarget{}, moment)}
	}
	return acts
}

func (s drawnStep) act(env Env, target Target, moment Moment) *act {
	a := &act{drawnStep: s, env: env, target: target}
	a.event = history.Event{F: history.F(s.Kind), Target: target.Name(), Role: s.Target.String(), DurNS: int64(s.Hold), Clock: s.clock()}
	if moment.Client == target.Name() {
		a.event.Hold, a.event.Key = moment.Hold, moment.Key
	} else {
		a.event.Hold, a.event.Key, _ = env.Hold(target.Name())
	}
	return a
}

// noTarget stands where there is no target: the fault is recorded as one without effect.
type noTarget struct{}

func (noTarget) Name() string { return "none" }

// Service is the name under which faults of the whole service are recorded.
const Service = "service"

// service is the target of faults that are the whole service's to suffer.
type service struct{}

func (service) Name() string { return Service }
