package nemesis

import (
	"context"
	"slices"
	"time"
)

// awaited is the moment that a step waits for.
type awaited struct {
	step    drawnStep
	moments Listener  // nil where it does not listen, or not yet
	since   time.Time // when its turn came
}

// listen is for a step whose turn it is.
func (s drawnStep) listen(env Env) awaited {
	a := awaited{step: s}
	a.turn(env)
	return a
}

// listenAhead is for a step of a sequence while the one before is on its way. What comes by then may be the last that comes: a client
// that is being cut off from the resource is granted the lock, and keeps it, because it cannot work. Only of moments that may stay so is
// that worth anything.
func (s drawnStep) listenAhead(env Env) awaited {
	if !s.Trigger.stays() {
		return awaited{step: s}
	}
	return awaited{step: s, moments: env.Listen(s.Trigger, s.wants)}
}

// turn says that it is the step's turn.
func (a *awaited) turn(env Env) {
	a.since = time.Now()
	if a.moments == nil && a.step.Trigger != AtIntervals {
		a.moments = env.Listen(a.step.Trigger, a.step.wants)
	}
}

// End stops listening.
func (a *awaited) End() {
	if a.moments != nil {
		a.moments.End()
	}
}

// await waits for the trigger, and into the work where it is that. What is over by then is let go: a fault that comes after the write was
// sent, or after the release, would prove nothing.
func (a *awaited) await(ctx context.Context, env Env, patience time.Duration) (Moment, error) {
	if a.moments == nil {
		return Moment{}, ctx.Err()
	}
	if a.step.Trigger.stays() {
		if moment, err := a.first(ctx, patience); err != nil || env.Still(moment) {
			return moment, err
		}
	}
	for {
		moment, err := a.moments.Next(ctx)
		if err != nil {
			return Moment{}, err
		}
		if a.step.Trigger == AtWork {
			if moment.At.Before(a.since) { // the point at which to meet it may have passed
				continue
			}
			if !sleep(ctx, time.Until(moment.At.Add(time.Duration(float64(moment.Work)*a.step.WorkFraction)))) {
				return Moment{}, ctx.Err()
			}
			a.since = time.Now()
		}
		if env.Still(moment) {
			return moment, nil
		}
		moment.Pass()
	}
}

// first is the first moment since the step's turn or, where none comes for a while, the last one before it, if it listened by then. That is the poorer one: the
// fault before may not have been there from its beginning, and some time of what it is about has passed.
func (a *awaited) first(ctx context.Context, patience time.Duration) (Moment, error) {
	early, err := a.moments.Next(ctx)
	if err != nil || !early.At.Before(a.since) {
		return early, err
	}
	patient, cancel := context.WithDeadline(ctx, a.since.Add(patience))
	defer cancel()
	moment, err := a.moments.Next(patient)
	if err != nil && ctx.Err() == nil {
		return early, nil
	}
	return moment, err
}

// wants reports whether a moment is one of those that the step waits for: a client that is named by its number, and no
// other.
func (s drawnStep) wants(m Moment) bool {
	if s.Target.Name != roleClient || len(s.Target.Numbers) == 0 || m.Number == 0 {
		return true
	}
	return slices.Contains(s.Target.Numbers, m.Number)
}
