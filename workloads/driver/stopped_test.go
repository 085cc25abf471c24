package driver

import (
	"fmt"
	"testing"

	"lockcheck/checker/history"
)

func TestAStoppedClientBelievesUntilItIsLetGo(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	if !p.driver.Frozen() {
		t.Fatal("nothing is left to read, and yet it is not frozen")
	}
	for range 100 {
		p.tape.Now()
	}
	before := p.tape.Now()
	p.driver.Thaw()
	if got := p.release().HeldNS; got <= before {
		t.Errorf("held until %d, want past %d, when it was let go", got, before)
	}
}

// The pings that it would read when it is let go could be older than what it does then by the whole pause.
func TestAStoppedClientIsPingedOnceItIsLetGo(t *testing.T) {
	p := newPuppet(t)
	p.ping()
	if !p.driver.Frozen() {
		t.Fatal("nothing is left to read, and yet it is not frozen")
	}
	p.driver.Ping()
	if sent := p.driver.pings.sent; sent != 1 {
		t.Errorf("%d pings were sent to a client that is stopped", sent-1)
	}
	before := p.tape.Now()
	p.driver.Thaw()
	if at := p.ping(); at <= before {
		t.Errorf("pinged at %d, want past %d, when it was let go", at, before)
	}
}

func TestALossInTheDrainedOutputEndsTheHold(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	p.say(`{"msg":"lost","session":"s1","error":"session done"}`)
	if !p.driver.Frozen() {
		t.Fatal("not drained")
	}
	p.driver.Thaw()
	if got := p.tape.find(history.Lost, history.Info).HeldNS; got != 0 {
		t.Errorf("held until %d, want nothing", got)
	}
	if got := p.release().HeldNS; got != 0 {
		t.Errorf("held until %d after the loss, want nothing", got)
	}
}

func TestAClientStoppedInTheMiddleOfALineIsNotFrozen(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	fmt.Fprint(p.says, `{"msg":"lost","sess`)
	if p.driver.Frozen() {
		t.Error("half a line may be the beginning of a loss")
	}
}

func TestAStoppedClientIsNotFloodedWithPings(t *testing.T) {
	p := newPuppet(t)
	for range 3 * maxUnanswered {
		p.driver.Ping()
	}
	if sent := p.driver.pings.sent; sent != maxUnanswered {
		t.Errorf("%d pings are waiting, want %d", sent, maxUnanswered)
	}
}
