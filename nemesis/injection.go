package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lockcheck/checker/history"
)

// healTimeout bounds how long a fault may take to go away before the run is given up: a process that does not answer
// SIGCONT for this long will not.
const healTimeout = 10 * time.Second

// errOvertaken says why a fault that was begun in the last moment of the load counts as none.
var errOvertaken = errors.New("the load ended before the fault was confirmed")

// injection is one fault on its way through the history: decided, seen to work, taken back, seen to be gone.
type injection struct {
	env   Env
	event history.Event // what all its events have in common
	act   *act
	took  bool
	undo  func(context.Context) error
}

// injectAll injects a step's faults at once and reports whether all of them took.
func injectAll(ctx context.Context, env Env, acts []*act) (injected []*injection, took bool) {
	injected = make([]*injection, len(acts))
	meet(acts)
	var wait sync.WaitGroup
	for n, a := range acts {
		wait.Go(func() {
			defer a.meeting.arrive()
			injected[n] = inject(ctx, env, a)
		})
	}
	wait.Wait()
	took = true
	for _, i := range injected {
		took = took && i.took
	}
	return injected, took
}

// inject records the decision, injects, and records whether it was seen to work. An injection without a verified effect is an
// event of its own (Fail) and counts as no exposure.
func inject(ctx context.Context, env Env, a *act) *injection {
	i := &injection{env: env, act: a, event: a.event}
	i.event.Process, i.event.Op = history.NemesisProcess, env.NextOp()
	a.invoked = time.Now() // before its stamp, so that what follows is stamped no earlier than it was
	invokedNS := i.record(history.Invoke, false, nil)
	err := errors.New("there is no such target now")
	switch _, none := a.target.(noTarget); {
	case a.refused != nil:
		err = a.refused
	case !none:
		err = kindNamed(a.Kind).begin(ctx, a)
	}
	i.undo, i.took = a.undo, err == nil
	i.event.Detail, i.event.SkewNS, i.event.LagNS, i.event.AtOnce = a.event.Detail, a.event.SkewNS, a.event.LagNS, a.event.AtOnce
	if err != nil {
		if ctx.Err() != nil { // what was asked last is innocent, and its words would send the reader to it
			err = fmt.Errorf("%w: %w", errOvertaken, err)
		}
		i.record(history.Fail, false, err)
		return i
	}
	if !a.since.IsZero() {
		i.event.FromNS = invokedNS + int64(a.since.Sub(a.invoked))
	}
	i.record(history.OK, false, nil)
	i.event.FromNS, i.event.AtOnce = 0, false
	return i
}

// heal takes the fault back even when the run is being stopped; also a half-taken one: some threads may have stopped.
func (i *injection) heal(ctx context.Context) error {
	if !i.took && i.undo == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healTimeout)
	defer cancel()
	i.record(history.Invoke, true, nil)
	if i.undo != nil {
		if err := i.undo(ctx); err != nil {
			i.record(history.Fail, true, err)
			return fmt.Errorf("healing %s of %s: %w", i.event.F, i.event.Target, err)
		}
		i.event.Detail, i.event.LagNS = i.act.event.Detail, i.act.event.LagNS
	}
	i.record(history.OK, true, nil)
	return nil
}

func (i *injection) record(kind history.Type, heal bool, err error) int64 {
	event := i.event
	event.Type, event.Heal = kind, heal
	if err != nil {
		event.Error = err.Error()
	}
	return i.env.Record(event)
}

// meeting is where the faults of one step wait until each of them has come so far, or is over.
type meeting struct {
	mu      sync.Mutex
	missing map[*act]bool
	all     chan struct{}
}

// meet has the faults of a step meet.
func meet(acts []*act) {
	m := &meeting{missing: map[*act]bool{}, all: make(chan struct{})}
	for _, a := range acts {
		m.missing[a] = true
		a.meeting = attendance{m, a}
	}
}

// attendance is one fault's part of a meeting. The zero value is a meeting of one.
type attendance struct {
	of *meeting
	by *act
}

func (a attendance) arrive() {
	if a.of == nil {
		return
	}
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	if !a.of.missing[a.by] {
		return
	}
	delete(a.of.missing, a.by)
	if len(a.of.missing) == 0 {
		close(a.of.all)
	}
}

// await arrives, and waits for the others.
func (a attendance) await(ctx context.Context) error {
	if a.of == nil {
		return nil
	}
	a.arrive()
	select {
	case <-a.of.all:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the other faults of this step are not that far: %w", ctx.Err())
	}
}
