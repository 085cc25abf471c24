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
			listener := s.Listen(trigger, func(m nemesis.Moment) bool { return m.Number == 3 })
			defer listener.End()
			acted := s.hear(between)
			m, err := listener.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m.Client != "c3-2" || m.Hold != "h5" || m.Key != "k1" {
				t.Errorf("the moment is %+v", m)
			}
			select {
			case <-acted:
				t.Error("the client goes on before the fault has come")
			default:
			}
			if !s.Still(m) {
				t.Error("the client waits, and its moment is said to be over")
			}
			m.Pass()
			<-acted
			if s.Still(m) {
				t.Error("the client has gone on, and its moment is said not to be over")
			}
			if s.hear(driver.Moment{Kind: driver.MomentWorking}) != nil {
				t.Error("a client that works is held up")
			}
		})
	}
}

// Of what comes before somebody asks, the newest is kept. A client whose moment nobody asks for goes on.
func TestAListenerKeepsTheNewestMoment(t *testing.T) {
	all := newMoments()
	l := all.listen(nemesis.AtGrant, func(m nemesis.Moment) bool { return m.Number != 2 })
	first := all.holdUp(nemesis.Moment{Kind: nemesis.AtGrant, Number: 1, Hold: "h1"})
	all.holdUp(nemesis.Moment{Kind: nemesis.AtGrant, Number: 1, Hold: "h2"})
	<-first
	if all.holdUp(nemesis.Moment{Kind: nemesis.AtGrant, Number: 2, Hold: "h3"}) != nil || all.offer(nemesis.Moment{Kind: nemesis.AtLoss, Number: 1}) {
		t.Error("somebody listens to what nobody wants")
	}
	if m, err := l.Next(t.Context()); err != nil || m.Hold != "h2" || m.At.IsZero() {
		t.Errorf("heard of %+v (%v), want the newest, and when it was", m, err)
	}
	third := all.holdUp(nemesis.Moment{Kind: nemesis.AtGrant, Number: 1, Hold: "h4"})
	l.End()
	<-third
	if all.offer(nemesis.Moment{Kind: nemesis.AtGrant, Number: 1}) {
		t.Error("a listener that has ended listens")
	}
}

// A client waits no longer for a fault than it may, also if somebody listens and does not act. Its moment is over then.
func TestAMomentIsOverWhenItsClientHasWaitedLongEnough(t *testing.T) {
	s := &faultEnv{moments: newMoments()}
	l := s.Listen(nemesis.AtRelease, func(nemesis.Moment) bool { return true })
	defer l.End()
	s.releasing(t.Context(), "c1", "h1", "k1")
	m, err := l.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Still(m) {
		t.Error("the client has gone on, and its moment is said not to be over")
	}
}
