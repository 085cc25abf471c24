package driver

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// later lets time pass.
func (t *tape) later(ns int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now += ns
}

// silences are those recorded.
func (t *tape) silences() (all []history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.events {
		if e.F == history.Silent {
			all = append(all, e)
		}
	}
	return all
}

// A client that answers no pings for longer than SilentNS is recorded as silent, from the first that it did not answer until it answers, is
// stopped, is closed or ends. While no ping is sent, none is unanswered.
func TestSilencesOfClients(t *testing.T) {
	const long = history.SilentNS + 100
	pong := func(p *puppet, n int64) {
		p.say(`{"msg":"pong","n":%d}`, n)
		p.settle()
	}
	for name, test := range map[string]struct {
		do   func(p *puppet) (from int64) // of the silence, if there is one
		want int
	}{
		"it answers late": {func(p *puppet) int64 {
			pong(p, 1)
			from := p.ping()
			p.tape.later(long)
			p.ping()
			pong(p, 2)
			pong(p, 3)
			return from
		}, 1},
		"it answers in time": {func(p *puppet) int64 {
			p.tape.later(long / 2)
			p.ping()
			pong(p, 1)
			p.tape.later(long / 2)
			pong(p, 2)
			return 0
		}, 0},
		"each answer comes late, and one follows the other": {func(p *puppet) int64 {
			for n := range int64(9) {
				p.tape.later(long / 3)
				p.ping()
				if n >= 3 {
					pong(p, n-2)
				}
			}
			return 1
		}, 1}, // before the first
		"an old answer is none": {func(p *puppet) int64 {
			pong(p, 1)
			from := p.ping()
			p.tape.later(long / 2)
			pong(p, 1)
			p.tape.later(long / 2)
			pong(p, 2)
			return from
		}, 1},
		"no ping is sent": {func(p *puppet) int64 {
			pong(p, 1)
			p.tape.later(long)
			p.ping()
			pong(p, 2)
			return 0
		}, 0},
		"it is stopped by a fault": {func(p *puppet) int64 {
			p.driver.Frozen()
			p.tape.later(long)
			p.driver.Thaw()
			pong(p, 1)
			return 0
		}, 0},
		"it was silent when it was stopped": {func(p *puppet) int64 {
			p.tape.later(long)
			p.driver.Frozen()
			p.tape.later(long)
			p.driver.Thaw()
			pong(p, 1)
			return 1
		}, 1},
		"it is closed": {func(p *puppet) int64 {
			p.tape.later(long)
			p.driver.Close()
			p.tape.later(long)
			return 1
		}, 1},
		"it ends": {func(p *puppet) int64 {
			p.tape.later(long)
			return 1
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			p.driver.Begin(client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
			p.hear()
			first := p.ping()
			from := test.do(p)
			p.says.Close()
			<-p.driver.Gone()
			got := p.tape.silences()
			if len(got) != test.want {
				t.Fatalf("%d silences, want %d: %+v", len(got), test.want, got)
			}
			if from == 1 {
				from = first
			}
			for _, e := range got {
				if err := e.Validate(); err != nil || e.FromNS != from || e.Client != "c1" {
					t.Errorf("%+v (%v), want one from %d", e, err, from)
				}
			}
			if exit := p.tape.find(history.Exit, history.Info); test.want > 0 && exit.TimeNS < got[0].TimeNS {
				t.Error("its end comes before its silence")
			}
		})
	}
}

// Who was never asked for a lock waits for none.
func TestASilenceBeforeAnythingWasAskedIsNotRecorded(t *testing.T) {
	p := newPuppet(t)
	p.ping()
	p.tape.later(2 * history.SilentNS)
	p.say(`{"msg":"pong","n":1}`)
	p.settle()
	if got := p.tape.silences(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
