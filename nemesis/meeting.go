package nemesis

import (
	"context"
	"fmt"
	"sync"
)

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
