package driver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// tape is a recorder whose clock goes on by one at each reading, so that a test can tell the order of stamps.
type tape struct {
	mu     sync.Mutex
	now    int64
	events []history.Event
}

func (t *tape) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now++
	return t.now
}

func (t *tape) Record(event history.Event) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now++
	event.TimeNS = t.now
	t.events = append(t.events, event)
	return t.now
}

func (t *tape) find(f history.F, kind history.Type) *history.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.events {
		if t.events[i].F == f && t.events[i].Type == kind {
			return &t.events[i]
		}
	}
	return nil
}

// puppet is a client whose lines the test writes by hand.
type puppet struct {
	t      *testing.T
	driver *Driver
	tape   *tape
	heard  *bufio.Scanner
	says   *os.File
}

func newPuppet(t *testing.T) *puppet {
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	p := &puppet{t: t, tape: &tape{}, heard: bufio.NewScanner(inRead), says: outWrite}
	p.driver = New("c1", inWrite, outRead, p.tape, nil)
	t.Cleanup(func() {
		outWrite.Close()
		<-p.driver.Gone()
		inRead.Close()
		inWrite.Close()
		outRead.Close()
	})
	return p
}

func pipe(t *testing.T) (*os.File, *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return read, write
}

func (p *puppet) say(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.says, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *puppet) hear() client.Command {
	p.t.Helper()
	var command client.Command
	if !p.heard.Scan() {
		p.t.Fatal("the driver sent nothing")
	}
	if err := json.Unmarshal(p.heard.Bytes(), &command); err != nil {
		p.t.Fatal(err)
	}
	return command
}

// settle returns once everything said so far was taken in.
func (p *puppet) settle() {
	p.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !p.driver.drained(); {
		if time.Now().After(deadline) {
			p.t.Fatal("the driver does not read")
		}
		time.Sleep(time.Millisecond)
	}
	p.driver.mu.Lock()
	p.driver.frozen = false
	p.driver.mu.Unlock()
}

func (p *puppet) grant(hold string) {
	p.t.Helper()
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: hold, Key: "k1"})
	p.hear()
	p.say(`{"msg":"ok","op":1,"session":"s1","token":"33"}`)
	<-done
}

// ping sends a ping and returns when it was sent.
func (p *puppet) ping() int64 {
	p.t.Helper()
	p.driver.Ping()
	n := p.hear().N
	p.driver.mu.Lock()
	defer p.driver.mu.Unlock()
	return p.driver.pings.stamp(n)
}

func (p *puppet) release() *history.Event {
	p.t.Helper()
	done := p.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: 2, Hold: "h1", Key: "k1"})
	p.hear()
	p.say(`{"msg":"ok","op":2,"owned":true}`)
	<-done
	return p.tape.find(history.Release, history.OK)
}

func TestAHoldCountsUpToTheLastConfirmedPing(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	p.ping()
	confirmed := p.ping()
	p.say(`{"msg":"pong","n":2,"holds":["h1"]}`)
	p.settle()
	p.ping()
	p.say(`{"msg":"pong","n":3}`)
	p.settle()
	if got := p.release().HeldNS; got != confirmed {
		t.Errorf("held until %d, want %d: the ping that was answered with the hold, not the one without", got, confirmed)
	}
}

func TestAnAnswerWithTheFlagConfirmsItsSending(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	done := p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 5, Hold: "h1", Key: "k1"})
	p.hear()
	p.say(`{"msg":"ok","op":5,"held":true}`)
	<-done
	want := p.tape.find(history.Read, history.Invoke).TimeNS
	if got := p.tape.find(history.Read, history.OK).HeldNS; got != want {
		t.Errorf("held until %d, want the read's sending at %d", got, want)
	}
}

// A prints lost at 5.000, B is granted at 5.010, the harness reads A's line at 5.020: no overlap.
func TestALateReadLossDoesNotProlongTheHold(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	confirmed := p.ping()
	p.say(`{"msg":"pong","n":1,"holds":["h1"]}`)
	p.settle()
	for range 100 {
		p.tape.Now() // time goes by, B is granted
	}
	p.say(`{"msg":"lost","session":"s1","error":"session done"}`)
	p.settle()
	lost := p.tape.find(history.Lost, history.Info)
	if lost.Hold != "h1" || lost.HeldNS != confirmed {
		t.Errorf("lost %+v, want hold h1 held until %d", lost, confirmed)
	}
}

func TestWhatALibraryTidiedUpIsRecordedWithItsLoss(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	sent := p.ping()
	p.say(`{"msg":"pong","n":1,"holds":["h1"]}`)
	p.say(`{"msg":"lost","session":"s1","seen":1,"removed":true}`)
	p.settle()
	if lost := p.tape.find(history.Lost, history.Info); !lost.Removed || lost.SeenNS != sent || lost.Hold != "h1" {
		t.Errorf("lost %+v, want one that removed something after %d", lost, sent)
	}
}

// One that may have removed its own says only since when.
func TestWhatALibraryGaveBackIsRecordedWithItsLoss(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	sent := p.ping()
	p.say(`{"msg":"pong","n":1,"holds":["h1"]}`)
	p.say(`{"msg":"lost","session":"s1","seen":1}`)
	p.settle()
	if lost := p.tape.find(history.Lost, history.Info); lost.Removed || lost.SeenNS != sent || lost.Hold != "h1" {
		t.Errorf("lost %+v, want one that may have been given back after %d", lost, sent)
	}
}

// The ping may be so old that nobody remembers when it was sent. Then the library may have given its lock back at any time since its grant,
// and no service is accused of an early expiry.
func TestALossSinceAForgottenPingIsNoPlainLoss(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	p.driver.mu.Lock()
	for range client.KeptPings + 1 {
		p.driver.pings.next(p.tape.Now())
	}
	p.driver.mu.Unlock()
	p.say(`{"msg":"lost","session":"s1","seen":1}`)
	p.settle()
	granted := p.tape.find(history.Acquire, history.OK)
	if lost := p.tape.find(history.Lost, history.Info); lost.SeenNS == 0 || lost.SeenNS > granted.TimeNS || lost.Hold != "h1" {
		t.Errorf("lost %+v, want one that may have been given back since its grant at %d", lost, granted.TimeNS)
	}
}

// One record was removed. A loss that ends the holds of two locks does not say which of them it was.
func TestWhatWasTidiedUpOfManyIsOfNone(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 2, Hold: "h2", Key: "k2"})
	p.hear()
	p.say(`{"msg":"ok","op":2,"session":"s1","token":"34"}`)
	<-done
	p.ping()
	p.say(`{"msg":"lost","session":"s1","seen":1,"removed":true}`)
	p.settle()
	if lost := p.tape.find(history.Lost, history.Info); lost.Hold != "h1" || lost.Removed {
		t.Errorf("lost %+v, which says that its record was removed", lost)
	}
}

func TestALossVoidsALaterGrantOfItsSession(t *testing.T) {
	p := newPuppet(t)
	p.say(`{"msg":"lost","session":"s1","error":"session done"}`)
	p.settle()
	p.grant("h1")
	p.ping()
	p.say(`{"msg":"pong","n":1,"holds":["h1"]}`)
	p.settle()
	if got := p.release().HeldNS; got != 0 {
		t.Errorf("held until %d, want nothing: the loss was printed before the grant", got)
	}
}

func TestAReleaseCapsTheHold(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	if !p.driver.BelievesIn("h1") || p.driver.BelievesIn("h2") {
		t.Error("it does not believe in what it was granted, or in what it was not")
	}
	done := p.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: 2, Hold: "h1", Key: "k1"})
	if p.driver.BelievesIn("h1") {
		t.Error("it is said to believe in what it releases")
	}
	p.hear()
	p.ping()
	p.say(`{"msg":"pong","n":1,"holds":["h1"]}`)
	p.say(`{"msg":"ok","op":2,"owned":true}`)
	<-done
	invoked := p.tape.find(history.Release, history.Invoke).TimeNS
	if got := p.tape.find(history.Release, history.OK).HeldNS; got > invoked {
		t.Errorf("held until %d, past its release's invocation at %d", got, invoked)
	}
}

func TestAnAbandonedAcquireIsInfoAndItsLateGrantAnOrphan(t *testing.T) {
	p := newPuppet(t)
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	p.hear()
	p.driver.Abandon(1, "no answer")
	if c := <-done; c.Type != history.Info {
		t.Fatalf("completed as %s, want info", c.Type)
	}
	p.say(`{"msg":"ok","op":1,"session":"s1"}`)
	p.settle()
	if p.tape.find(history.Acquire, history.OK) != nil {
		t.Error("the late answer was recorded as a second completion")
	}
	if orphans := p.driver.Orphans(); len(orphans) != 1 || orphans[0].Hold != "h1" {
		t.Errorf("orphans %v, want h1", orphans)
	}
	p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 3, Key: "k1"})
	if read := p.tape.find(history.Read, history.Invoke); read.Process == "c1" || read.Client != "c1" {
		t.Errorf("went on as process %q of client %q, want a new process of c1", read.Process, read.Client)
	}
}

func TestTheEndOfAClientCompletesWhatIsOpen(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	done := p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 5, Hold: "h1", Key: "k1"})
	p.hear()
	p.says.Close()
	if c := <-done; c.Type != history.Info {
		t.Errorf("completed as %s, want info", c.Type)
	}
	<-p.driver.Gone()
	if exit := p.tape.find(history.Exit, history.Info); exit == nil || exit.Hold != "h1" || exit.Error == "" {
		t.Errorf("exit %+v, want one that names h1 and why", exit)
	}
	if c := <-p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 6}); c.Type != history.Fail {
		t.Errorf("an operation of a dead client is %s, want fail: it was never sent", c.Type)
	}
}

// The kernel tells once that there is something to read, for the last line and the end alike.
func TestAnEndThatComesTogetherWithTheLastLineIsSeen(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	p.driver.mu.Lock() // nothing is read before both are there
	p.say(`{"msg":"lease","session":"s1","ttl_ms":1}`)
	p.says.Close()
	p.driver.mu.Unlock()
	select {
	case <-p.driver.Gone():
	case <-time.After(10 * time.Second):
		t.Fatal("the end was not seen")
	}
}

func TestWhatIsNotTheProtocolEndsTheConversation(t *testing.T) {
	for _, line := range []string{`{"msg":"hello"}`, `Traceback (most recent call last):`, `{"msg":"error","error":"no library"}`} {
		p := newPuppet(t)
		p.say("%s", line)
		<-p.driver.Gone()
		if err := p.driver.Err(); !errors.Is(err, client.ErrProtocol) {
			t.Errorf("after %s the conversation ended because %v, want one that is not the protocol", line, err)
		}
	}
}

func TestAForgottenPingBoundsNothing(t *testing.T) {
	var p pingStamps
	for n := range int64(client.KeptPings + 10) {
		p.next(1000 + n)
	}
	for n, want := range map[int64]int64{0: 0, 5: 0, 10: 0, 11: 1010, client.KeptPings + 10: 1000 + client.KeptPings + 9, client.KeptPings + 11: 0} {
		if got := p.stamp(n); got != want {
			t.Errorf("ping %d was sent at %d, want %d", n, got, want)
		}
	}
}

// Of a client that neither a fault nor the harness had ended its exit says that it died.
func TestWhoEndedByItselfDied(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*puppet)
		died   bool
	}{
		"by itself":              {func(*puppet) {}, true},
		"killed":                 {func(p *puppet) { p.driver.ExpectEnd() }, false},
		"asked to close":         {func(p *puppet) { p.driver.Close() }, false},
		"after a broken line":    {func(p *puppet) { p.say("Hello!") }, false}, // the end of the run, and the client's mistake
		"killed when it is over": {func(p *puppet) { p.says.Close(); <-p.driver.Gone(); p.driver.ExpectEnd() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.grant("h1")
			test.before(p)
			p.says.Close()
			<-p.driver.Gone()
			want := ""
			if test.died {
				want = history.CodeDied
			}
			if exit := p.tape.find(history.Exit, history.Info); p.driver.Died() != test.died || exit.Code != want || exit.Hold != "h1" {
				t.Errorf("died %v, exit %+v; want %v", p.driver.Died(), exit, test.died)
			}
		})
	}
}
