package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis/agent/delay"
)

// laggard notes what is held back of it, and says what it is told to when that is over.
type laggard struct {
	*victim
	report delay.Report
	lost   error
}

func (l laggard) Delay(_ context.Context, _ string, lag Lag) (time.Time, error) {
	var peers []string
	for _, p := range lag.Peers {
		peers = append(peers, p.Name())
	}
	slices.Sort(peers)
	return time.Now(), l.note("delay %v in=%v out=%v %s", lag.Amount, lag.In, lag.Out, strings.Join(peers, ","))
}

func (l laggard) Undelay(context.Context, string, Lag) (delay.Report, error) {
	return l.report, l.lost
}

// recording keeps whole events.
type recording struct {
	*scene
	all []history.Event
}

func (r *recording) Record(e history.Event) int64 {
	r.all = append(r.all, e)
	return r.scene.Record(e)
}

// What the checker is told of a delay: how much later all came that its target sent the servers, as long as that is certain.
func TestADelayTellsHowLateWhatGoesToTheServersIs(t *testing.T) {
	const lag = int64(200 * time.Millisecond)
	held := delay.Report{Packets: 5}
	for _, c := range []struct {
		spec         string
		report       delay.Report
		did          string
		begun, ended int64
	}{
		{"delay:client(1),300ms±100ms", held, "delay 300ms±100ms in=true out=true c2,c3,n1,n2,n3,resource", lag, lag},
		{"delay:client(1)-servers,out,200ms", held, "delay 200ms in=false out=true n1,n2,n3", lag, lag},
		{"delay:client(1)-servers,in,200ms", held, "delay 200ms in=true out=false n1,n2,n3", 0, 0},
		{"delay:client(1)-node(1),200ms", held, "delay 200ms in=true out=true n1", 0, 0},
		{"delay:client(1)-resource,200ms", held, "delay 200ms in=true out=true resource", 0, 0},
		{"delay:client(1)-servers,200ms", delay.Report{Packets: 5, Passed: 1}, "delay 200ms in=true out=true n1,n2,n3", lag, 0},
		{"delay:client(1)-servers,200ms", delay.Report{Packets: 5, Full: true}, "delay 200ms in=true out=true n1,n2,n3", lag, 0},
	} {
		l := laggard{victim: &victim{name: "c1"}, report: c.report}
		env := &recording{scene: &scene{clients: []Target{l, &victim{name: "c2"}, &victim{name: "c3"}}, nodes: five("n")[:3]}}
		round := drawSchedule(mustParse(t, c.spec), Conditions{Seed: 3, TTL: time.Millisecond, Limit: time.Millisecond}).rounds[0]
		if err := round.run(t.Context(), env, 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.did, []string{c.did}) || len(env.all) != 4 {
			t.Fatalf("%s did %q, and recorded %+v", c.spec, l.did, env.all)
		}
		begun, ended := env.all[1], env.all[3]
		if begun.LagNS != c.begun || ended.LagNS != c.ended {
			t.Errorf("%s: at least %d ns late when it began and %d when it was over, want %d and %d", c.spec, begun.LagNS, ended.LagNS, c.begun, c.ended)
		}
		if want := begun.Detail + "; " + c.report.Words(delay.Amount{Mean: 200 * time.Millisecond}); ended.Detail != want {
			t.Errorf("%s ended with %q, want %q", c.spec, ended.Detail, want)
		}
	}
}

// A delay that lost packets was not taken back as it should be.
func TestADelayThatLostPacketsFailsToHeal(t *testing.T) {
	l := laggard{victim: &victim{name: "c1"}, lost: fmt.Errorf("lost 2 packets")}
	env := &recording{scene: &scene{clients: []Target{l}, nodes: five("n")[:3]}}
	round := drawSchedule(mustParse(t, "delay:client(1),200ms"), Conditions{Seed: 3, TTL: time.Millisecond, Limit: time.Millisecond}).rounds[0]
	if err := round.run(t.Context(), env, 1); err == nil || !strings.Contains(err.Error(), "lost 2 packets") {
		t.Errorf("%v, want the error that says what was lost", err)
	}
	if last := env.all[len(env.all)-1]; last.Type != history.Fail || !last.Heal {
		t.Errorf("the last event is %+v", last)
	}
}
