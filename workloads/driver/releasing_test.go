package driver

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// That a record was removed is a release's word. Said with anything else it has no meaning, and is not recorded.
func TestWhatWasRemovedIsRecordedOfReleases(t *testing.T) {
	p := newPuppet(t)
	p.grant("h1")
	for op, cmd := range map[int64]client.CommandName{2: client.CmdRelease, 3: client.CmdRead} {
		done := p.driver.Begin(client.Command{Cmd: cmd, Op: op, Hold: "h1", Key: "k1"})
		p.hear()
		p.say(`{"msg":"ok","op":%d,"removed":true}`, op)
		<-done
	}
	if !p.tape.find(history.Release, history.OK).Removed {
		t.Error("the release removed a record, and its event does not say so")
	}
	if p.tape.find(history.Read, history.OK).Removed {
		t.Error("a read is recorded as having removed something")
	}
}

// While a fault that waited for it has not come, a client that waits for its next ping gets none.
func TestNoPingIsSentBeforeTheFaultThatWaitsForARemoval(t *testing.T) {
	for name, taken := range map[string]bool{"a fault waits": true, "none does": false} {
		t.Run(name, func(t *testing.T) {
			acted := make(chan struct{})
			p := newPuppet(t)
			var heard Notice
			p.driver.notify = func(m Notice) <-chan struct{} {
				if heard = m; !taken {
					return nil
				}
				return acted
			}
			done := p.driver.Begin(client.Command{Cmd: client.CmdRelease, Op: 2, Hold: "h1", Key: "k1"})
			p.hear()
			p.say(`{"msg":"stage","op":2,"stage":"removing"}`)
			p.settle()
			if heard.Kind != NoticeRemoving || heard.Hold != "h1" || heard.Key != "k1" {
				t.Errorf("the moment is %+v", heard)
			}
			p.driver.Ping()
			if sent := p.driver.pings.sent > 0; sent == taken {
				t.Errorf("a ping was sent: %v", sent)
			}
			close(acted)
			if at := p.ping(); at == 0 {
				t.Error("no ping was sent after the fault")
			}
			p.say(`{"msg":"ok","op":2,"removed":true}`)
			<-done
		})
	}
}
