package driver

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// When a request was in the queue is known from when the harness read that it is: later than it was, never earlier.
func TestAnAcquiresRequestsAndItsQueueingAreRecorded(t *testing.T) {
	p := newPuppet(t)
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	p.hear()
	before := p.tape.Now()
	p.say(`{"msg":"stage","op":1,"stage":"queued"}`)
	p.settle()
	after := p.tape.Now()
	p.say(`{"msg":"stage","op":1,"stage":"queued"}`) // again, which says nothing new
	p.settle()
	p.say(`{"msg":"ok","op":1,"session":"s1","attempts":7}`)
	<-done
	granted := p.tape.find(history.Acquire, history.OK)
	if granted.Attempts != 7 || granted.QueuedNS <= before || granted.QueuedNS >= after {
		t.Errorf("recorded %+v, want 7 attempts, queued between %d and %d", granted, before, after)
	}
	done = p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 2, Hold: "h1", Key: "k1"})
	p.hear()
	p.say(`{"msg":"ok","op":2,"attempts":7}`)
	<-done
	if read := p.tape.find(history.Read, history.OK); read.Attempts != 0 || read.QueuedNS != 0 {
		t.Errorf("of a read it is recorded %+v", read)
	}
}

// An acquire that says neither, as clients in other languages may, and one that fails.
func TestAnAcquireNeedNotCount(t *testing.T) {
	p := newPuppet(t)
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	p.hear()
	p.say(`{"msg":"fail","op":1,"code":"busy"}`)
	<-done
	if failed := p.tape.find(history.Acquire, history.Fail); failed.Attempts != 0 || failed.QueuedNS != 0 {
		t.Errorf("recorded %+v", failed)
	}
}

// The session of an unknown outcome is only where it can have been: what the client does next is not done under it.
func TestTheSessionOfAnUnknownOutcomeIsNotTheClients(t *testing.T) {
	p := newPuppet(t)
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	p.hear()
	p.say(`{"msg":"info","op":1,"session":"s7","error":"reset"}`)
	<-done
	if unknown := p.tape.find(history.Acquire, history.Info); unknown.Session != "s7" {
		t.Errorf("recorded %+v, want session s7", unknown)
	}
	p.driver.Begin(client.Command{Cmd: client.CmdRead, Op: 2, Hold: "h1", Key: "k1"})
	if read := p.tape.find(history.Read, history.Invoke); read.Session != "" {
		t.Errorf("the read was invoked under session %q", read.Session)
	}
}

// What an acquire removed of another's is recorded when it is read, as often as it is said, and of no other operation.
func TestWhatAnAcquireRemovedIsRecorded(t *testing.T) {
	p := newPuppet(t)
	p.ping()
	done := p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 7, Hold: "h7", Key: "k1"})
	p.hear()
	p.say(`{"msg":"stage","op":7,"stage":"removed","session":"s4","seen":1}`)
	p.say(`{"msg":"ok","op":7,"token":"1"}`)
	<-done
	removed := p.tape.find(history.Remove, history.OK)
	if removed == nil || removed.Hold != "h7" || removed.Key != "k1" || removed.Value != "s4" || removed.Session != "" || removed.SeenNS == 0 || removed.Op != 0 {
		t.Errorf("recorded %+v", removed)
	}
	done = p.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: 8, Hold: "h7", Key: "k1"})
	p.hear()
	p.say(`{"msg":"stage","op":8,"stage":"removed","session":"s5"}`)
	p.say(`{"msg":"ok","op":8}`)
	<-done
	p.tape.mu.Lock()
	defer p.tape.mu.Unlock()
	for _, e := range p.tape.events {
		if e.Value == "s5" {
			t.Errorf("of a release it is recorded, too: %+v", e)
		}
	}
}
