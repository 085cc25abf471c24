package workloads

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// However many ask, turns come no faster than the rate; who comes late gets no turns for the time before.
func TestTurnsComeNoFasterThanTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(&Attach{MaxRate: 10})
		begun := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				for range 4 {
					if !p.wait(t.Context(), nil) {
						t.Error("no turn came")
					}
				}
			})
		}
		all.Wait()
		if took := time.Since(begun); took != 1900*time.Millisecond {
			t.Errorf("20 turns at 10 a second took %v, want 1.9 s", took)
		}
		time.Sleep(time.Minute)
		begun = time.Now()
		for range 3 {
			p.wait(t.Context(), nil)
		}
		if took := time.Since(begun); took != 200*time.Millisecond {
			t.Errorf("3 turns after a rest took %v, want 200 ms", took)
		}
	})
}

func TestAWaitForATurnCanBeGivenUp(t *testing.T) {
	p := newPace(&Attach{MaxRate: 1})
	p.wait(t.Context(), nil)
	over := make(chan struct{})
	close(over)
	if p.wait(t.Context(), over) {
		t.Error("the load is over, and a turn came")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p.wait(ctx, nil) {
		t.Error("the run is over, and a turn came")
	}
	if free := newPace(nil); !free.wait(ctx, over) {
		t.Error("without a rate there is nothing to wait for")
	}
}
