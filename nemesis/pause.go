package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lockcheck/checker/history"
)

// Pause is the fault's name in a history.
const Pause history.F = "pause"

// pause stops processes with SIGSTOP and lets them go with SIGCONT.
var pause = Kind{
	Name:  "pause",
	About: "SIGSTOP and SIGCONT: holders at work past their lease, and shorter pauses of anybody",
	draw:  drawPauses,
}

// The roles that a pause can be aimed at.
const (
	roleHolder = "holder" // a client while it works under the lock
	roleClient = "client" // any client, whatever it does
	roleServer = "server"
)

// What a long pause needs to outlive a lease for sure: servers were seen to drop a 2 s lease after 2.0 to 2.5 s.
const (
	longestPause  = 2.2 // in TTLs
	outlivesLease = 1.5
	shortestPause = 0.1
)

type pauseStep struct {
	gap      time.Duration // after the step before
	role     string
	duration time.Duration
	into     float64 // of the holder's work, when the pause begins: 0 to 1
	pick     uint64  // which client or server, when the role leaves a choice
}

type pauses struct {
	ttl   time.Duration
	steps []pauseStep
}

// drawPauses stratifies: a holder is paused past its lease first and then at least every second time, because that is
// what a run under pauses is for; what comes between is drawn freely.
func drawPauses(plan Plan) Nemesis {
	r := random(plan.Seed)
	p := &pauses{ttl: plan.TTL}
	for at := time.Duration(0); at < plan.Limit; {
		step := drawLong(r, plan.TTL)
		if len(p.steps)%2 == 1 {
			step = drawOther(r, plan.TTL)
		}
		p.steps = append(p.steps, step)
		at += step.gap + step.duration
	}
	return p
}

func drawLong(r *rand.Rand, ttl time.Duration) pauseStep {
	return pauseStep{
		gap:      between(r, 300*time.Millisecond, 1200*time.Millisecond),
		role:     roleHolder,
		duration: scale(ttl, outlivesLease+r.Float64()*(longestPause-outlivesLease)),
		into:     0.1 + 0.4*r.Float64(),
	}
}

func drawOther(r *rand.Rand, ttl time.Duration) pauseStep {
	roles := []string{roleHolder, roleClient, roleServer}
	return pauseStep{
		gap:      between(r, 200*time.Millisecond, 800*time.Millisecond),
		role:     roles[r.IntN(len(roles))],
		duration: scale(ttl, shortestPause+r.Float64()*0.7),
		into:     0.1 + 0.4*r.Float64(),
		pick:     r.Uint64(),
	}
}

func scale(d time.Duration, by float64) time.Duration {
	return time.Duration(float64(d) * by).Round(time.Millisecond)
}

func (p *pauses) Requirements() []history.Requirement {
	return []history.Requirement{
		{Name: history.ExposureContended, Min: 1},
		{Name: history.ExposureOutlived, Min: 1},
	}
}

func (p *pauses) Steps() []string {
	var lines []string
	for _, s := range p.steps {
		when := fmt.Sprintf("after %v: pause a %s for %v (%.2f TTL)", s.gap.Round(time.Millisecond), s.role, s.duration, s.duration.Seconds()/p.ttl.Seconds())
		if s.role == roleHolder {
			when += fmt.Sprintf(", %.0f %% into its work", 100*s.into)
		}
		lines = append(lines, when)
	}
	return lines
}

func (p *pauses) Run(ctx context.Context, stage Stage) error {
	var failed error
	for _, step := range p.steps {
		if !sleep(ctx, step.gap) {
			break
		}
		failed = errors.Join(failed, step.run(ctx, stage))
	}
	<-ctx.Done()
	return failed
}

func (s pauseStep) run(ctx context.Context, stage Stage) error {
	target, event := s.aim(ctx, stage)
	if ctx.Err() != nil {
		return nil
	}
	pauser, _ := target.(Pauser)
	event.F, event.Role, event.DurNS = Pause, s.role, int64(s.duration)
	fault, took := inject(ctx, stage, event, func(ctx context.Context) error {
		if pauser == nil {
			return errors.New("no such target that could be paused")
		}
		return pauser.Pause(ctx)
	})
	if took {
		sleep(ctx, s.duration)
	}
	if pauser == nil {
		return nil
	}
	return fault.heal(ctx, pauser.Resume) // also a half-taken pause: some threads may have stopped
}

// aim waits for the moment that the step asks for and names whom it hits.
func (s pauseStep) aim(ctx context.Context, stage Stage) (Target, history.Event) {
	switch s.role {
	case roleHolder:
		return s.aimAtHolder(ctx, stage)
	case roleServer:
		return s.pickOne(stage.Nodes(), stage)
	default:
		return s.pickOne(stage.Clients(), stage)
	}
}

// aimAtHolder waits until a client is that far into its work. Work that ended meanwhile is let go: a pause that begins
// after the write was sent would prove nothing.
func (s pauseStep) aimAtHolder(ctx context.Context, stage Stage) (Target, history.Event) {
	for {
		worker, err := stage.NextWorker(ctx)
		if err != nil {
			return nil, history.Event{}
		}
		if !sleep(ctx, scale(worker.Work, s.into)) {
			return nil, history.Event{}
		}
		if target := stage.Client(worker.Client); target != nil && stage.StillWorking(worker) {
			return target, history.Event{Target: worker.Client, Hold: worker.Hold, Key: worker.Key}
		}
	}
}

func (s pauseStep) pickOne(targets []Target, stage Stage) (Target, history.Event) {
	if len(targets) == 0 {
		return nil, history.Event{Target: "nobody"}
	}
	target := targets[s.pick%uint64(len(targets))]
	hold, key, _ := stage.Hold(target.Name())
	return target, history.Event{Target: target.Name(), Hold: hold, Key: key}
}
