package run

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
)

func TestNoOperationTimesOutWhileAFaultTouchesItsClient(t *testing.T) {
	const second = int64(time.Second)
	fault := func(op int64, target string, atS int64, heal bool) history.Event {
		event := history.Event{Process: history.NemesisProcess, Op: op, Target: target, TimeNS: atS * second, Heal: heal}
		event.Type = history.Invoke
		if heal {
			event.Type = history.OK
		}
		return event
	}
	cases := []struct {
		name   string
		faults []history.Event
		waits  bool
		atS    int64
		over   bool
	}{
		{"nothing happened and little time passed", nil, false, 9, false},
		{"nothing happened for long", nil, false, 11, true},
		{"it waits behind a hundred clients", nil, true, 33, false},
		{"it waits for longer than a hundred clients can take", nil, true, 35, true},
		{"its client is paused", []history.Event{fault(1, "c1", 1, false)}, false, 99, false},
		{"a server is paused", []history.Event{fault(1, "n2", 1, false)}, false, 99, false},
		{"the service as a whole is failing over", []history.Event{fault(1, nemesis.Service, 1, false)}, false, 99, false},
		{"another client is paused", []history.Event{fault(1, "c2", 1, false)}, false, 11, true},
		{"another client is paused and it waits for a lock", []history.Event{fault(1, "c2", 1, false)}, true, 99, false},
		{"the pause ended just now", []history.Event{fault(1, "c1", 1, false), fault(1, "c1", 20, true)}, false, 29, false},
		{"the grace after the pause is over", []history.Event{fault(1, "c1", 1, false), fault(1, "c1", 20, true)}, false, 31, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newTimeouts(history.Plan{EffectiveMS: 2000, Clients: 100}, []string{"n1", "n2"})
			for _, event := range c.faults {
				p.watch(event)
			}
			if got := p.expired("c1", c.waits, 0, c.atS*second); got != c.over {
				t.Errorf("over is %v, want %v", got, c.over)
			}
		})
	}
}

// A client that waits for a lock whose holder died waits for its lease, the lease's grace and the lock delay.
func TestAWaitMayLastForALockDelay(t *testing.T) {
	p := newTimeouts(history.Plan{EffectiveMS: 2000, GraceMS: 2000, Clients: 5, LockDelayMS: 60_000}, nil)
	for _, c := range []struct {
		waits bool
		atS   int64
		over  bool
	}{{true, 81, false}, {true, 83, true}, {false, 19, false}, {false, 21, true}} {
		if got := p.expired("c1", c.waits, 0, c.atS*int64(time.Second)); got != c.over {
			t.Errorf("waits %v, after %d s: over is %v, want %v", c.waits, c.atS, got, c.over)
		}
	}
}

// The lock of a schedule that hangs is waited for, because a request that is given up proves nothing. What is asked for under the lock
// has its time all the same.
func TestAScheduleWaitsForItsLock(t *testing.T) {
	p := newTimeouts(history.Plan{EffectiveMS: 2000, Clients: 5, SlotMS: 500, Execution: history.AtLeastOnce}, nil)
	if hour := int64(time.Hour); p.expired("c1", true, 0, hour) || !p.expired("c1", false, 0, hour) {
		t.Error("who waits for the lock was given up, or who has it was not")
	}
}
