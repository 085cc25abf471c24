package nemesis

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
)

// healPatience bounds how long a fault may take to go away before the run is given up: a process that does not answer
// SIGCONT for this long will not.
const healPatience = 10 * time.Second

// injection is one fault on its way through the history: decided, seen to work, taken back, seen to be gone.
type injection struct {
	stage Stage
	event history.Event // what all its events have in common
}

// inject records the decision, injects, and records whether it was seen to work. An injection that did not take is an
// event of its own (Fail) and counts as no exposure; there is nothing to heal then unless the target says otherwise.
func inject(ctx context.Context, stage Stage, event history.Event, apply func(context.Context) error) (*injection, bool) {
	event.Process, event.Op = history.NemesisProcess, stage.NextOp()
	i := &injection{stage: stage, event: event}
	i.record(history.Invoke, false, nil)
	if err := apply(ctx); err != nil {
		i.record(history.Fail, false, err)
		return i, false
	}
	i.record(history.OK, false, nil)
	return i, true
}

// heal takes the fault back even when the run is being stopped.
func (i *injection) heal(ctx context.Context, takeBack func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healPatience)
	defer cancel()
	i.record(history.Invoke, true, nil)
	if err := takeBack(ctx); err != nil {
		i.record(history.Fail, true, err)
		return fmt.Errorf("healing %s of %s: %w", i.event.F, i.event.Target, err)
	}
	i.record(history.OK, true, nil)
	return nil
}

func (i *injection) record(kind history.Type, heal bool, err error) {
	event := i.event
	event.Type, event.Heal = kind, heal
	if err != nil {
		event.Error = err.Error()
	}
	i.stage.Record(event)
}
