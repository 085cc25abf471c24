package run

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lockcheck/clusters/client"
	"lockcheck/nemesis"
	"lockcheck/workloads/driver"
)

// A client that stands between two requests is held up for a fault that waits for this moment until it has come, and otherwise
// not at all.
func TestAFaultComesBeforeTheRequestThatItWaitsFor(t *testing.T) {
	for kind, trigger := range map[driver.NoticeKind]nemesis.Trigger{
		driver.NoticeRemoving: nemesis.AtRemoving,
		driver.NoticeExpiring: nemesis.AtExpiring,
	} {
		t.Run(string(kind), func(t *testing.T) {
			speaks := newSpeaker(t, "c3-2")
			s := &faultEnv{run: &Run{fleet: &fleet{members: []*member{speaks.member}}}, moments: newMoments()}
			between := driver.Notice{Client: "c3-2", Kind: kind, Op: 7, Hold: "h5", Key: "k1"}
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
			if s.hear(driver.Notice{Kind: driver.NoticeWorking}) != nil {
				t.Error("a client that works is held up")
			}
		})
	}
}

// Of the moments that come before a listener asks, the newest is kept. A client whose moment no listener asks for goes on.
func TestAListenerKeepsTheNewestMoment(t *testing.T) {
	all := newMoments()
	l := all.listen(nemesis.AtRelease, func(m nemesis.Moment) bool { return m.Number != 2 })
	offer := func(number int, hold string) (taken bool, passed chan struct{}) {
		passed = make(chan struct{})
		return all.offer(nemesis.Moment{Kind: nemesis.AtRelease, Number: number, Hold: hold, Passed: passed}), passed
	}
	goesOn := func(passed chan struct{}) bool {
		select {
		case <-passed:
			return true
		default:
			return false
		}
	}
	_, first := offer(1, "h1")
	_, second := offer(1, "h2")
	if !goesOn(first) || goesOn(second) {
		t.Errorf("the client of the first moment goes on: %v, want true; of the second: %v, want false", goesOn(first), goesOn(second))
	}
	if taken, _ := offer(2, "h3"); taken || all.offer(nemesis.Moment{Kind: nemesis.AtLoss, Number: 1}) {
		t.Error("a listener took a moment that it does not want")
	}
	if m, err := l.Next(t.Context()); err != nil || m.Hold != "h2" || m.At.IsZero() {
		t.Errorf("heard of %+v (%v), want the newest, and when it was", m, err)
	}
	_, third := offer(1, "h4")
	l.End()
	if !goesOn(third) {
		t.Error("a client waits for nobody")
	}
	if taken, _ := offer(1, "h5"); taken {
		t.Error("a listener that has ended listens")
	}
}

// A client waits no longer for a fault than it may, even if a listener took the moment and does not act. Its moment is over then.
func TestAMomentIsOverWhenItsClientHasWaitedLongEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &faultEnv{moments: newMoments()}
		l := s.Listen(nemesis.AtRelease, func(nemesis.Moment) bool { return true })
		defer l.End()
		s.releasing(t.Context(), "c1", "h1", "k1")
		if took := time.Since(began); took != askTimeout {
			t.Errorf("the client waited for %v, want %v", took, askTimeout)
		}
		m, err := l.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Still(m) {
			t.Error("the client has gone on, and its moment is said not to be over")
		}
	})
}

// What a moment is about is so until the client says, or is told, something else, and never of another hold or of a client that is gone.
func TestAMomentIsStillSoWhileItsClientIsAtIt(t *testing.T) {
	client1 := newSpeaker(t, "c1")
	s := &faultEnv{run: &Run{fleet: &fleet{members: []*member{client1.member}}}, moments: newMoments()}
	begin := func(command client.Command) <-chan driver.Completion {
		command.Key, command.Hold = "k1", "h1"
		return client1.driver.Begin(command)
	}
	is := func(what string, kinds ...nemesis.Trigger) {
		t.Helper()
		for _, kind := range []nemesis.Trigger{nemesis.AtQueueing, nemesis.AtGrant, nemesis.AtWork, nemesis.AtLoss} {
			m := nemesis.Moment{Kind: kind, Client: "c1", Hold: "h1"}
			if got, want := s.Still(m), slices.Contains(kinds, kind) || kind == nemesis.AtLoss; got != want {
				t.Errorf("%s: @%s is still so: %v, want %v", what, kind, got, want)
			}
			if m.Hold = "h2"; kind != nemesis.AtLoss && s.Still(m) {
				t.Errorf("%s: @%s is said to be so of another hold", what, kind)
			}
			if m.Client = "c2"; kind != nemesis.AtLoss && s.Still(m) {
				t.Errorf("%s: @%s is said to be so of a client that is not there", what, kind)
			}
		}
	}
	acquired := begin(client.Command{Cmd: client.CmdAcquire, Op: 1})
	is("it waits", nemesis.AtQueueing)
	fmt.Fprintln(client1.out, `{"msg":"ok","op":1}`)
	<-acquired
	is("it holds the lock", nemesis.AtGrant)
	wrote := begin(client.Command{Cmd: client.CmdWrite, Op: 2, WorkMS: 1})
	fmt.Fprintln(client1.out, `{"msg":"stage","op":2,"stage":"working"}`)
	for hold := ""; hold == ""; hold, _, _ = client1.driver.Working() {
		time.Sleep(time.Millisecond)
	}
	is("it works", nemesis.AtGrant, nemesis.AtWork)
	fmt.Fprintln(client1.out, `{"msg":"ok","op":2}`)
	<-wrote
	is("it has written", nemesis.AtGrant)
	begin(client.Command{Cmd: client.CmdRelease, Op: 3})
	is("it releases")
}
