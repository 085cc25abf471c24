package workloads

import (
	"testing"

	"lockcheck/nemesis"
	"lockcheck/workloads/driver"
)

// A client that stands between two requests is held up for a fault that waits for this moment until it has come, and otherwise
// not at all.
func TestAFaultComesBeforeTheRequestThatItWaitsFor(t *testing.T) {
	for kind, trigger := range map[driver.MomentKind]nemesis.Trigger{
		driver.MomentRemoving: nemesis.AtRemoving,
		driver.MomentExpiring: nemesis.AtExpiring,
	} {
		t.Run(string(kind), func(t *testing.T) {
			s := &faultEnv{moments: newMoments()}
			between := driver.Moment{Client: "c3-2", Kind: kind, Op: 7, Hold: "h5", Key: "k1"}
			if s.hear(between) != nil {
				t.Error("no fault waits, and the client is held up")
			}
			got := make(chan nemesis.Moment)
			go func() {
				m, err := s.Next(t.Context(), trigger, func(m nemesis.Moment) bool { return m.Number == 3 })
				if err != nil {
					t.Error(err)
				}
				got <- m
			}()
			for waits := false; !waits; {
				s.moments.mu.Lock()
				waits = len(s.moments.waiting[trigger]) == 1
				s.moments.mu.Unlock()
			}
			acted := s.hear(between)
			m := <-got
			if m.Client != "c3-2" || m.Hold != "h5" || m.Key != "k1" {
				t.Errorf("the moment is %+v", m)
			}
			select {
			case <-acted:
				t.Error("the client goes on before the fault has come")
			default:
			}
			m.Pass()
			<-acted
			if s.hear(driver.Moment{Kind: driver.MomentWorking}) != nil {
				t.Error("a client that works is held up")
			}
		})
	}
}
