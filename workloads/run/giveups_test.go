package run

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// A short wait is given up where the plan says so: while another client waits, no fault touches this one, and its library can take a request back.
func TestWhichAcquiresAreGivenUpSoon(t *testing.T) {
	const after = 500 * time.Millisecond
	plan := history.Plan{Seed: 3, Work: &history.Work{FromMS: 20, ToMS: 120, GivenUp: true}}
	pause := history.Event{Process: history.NemesisProcess, F: history.PauseFault, Type: history.Invoke, Op: 9, Target: "c1"}
	for name, c := range map[string]struct {
		waited  time.Duration
		alone   bool
		pause   *history.Event
		gone    bool // what came of one before is not known
		excused bool // the same, because its client had ended, or because it was not asked to give that up
		want    bool
	}{
		"after a while":            {waited: 600 * time.Millisecond, want: true},
		"before":                   {waited: 100 * time.Millisecond},
		"it would heal a hang":     {waited: 2000 * time.Millisecond},
		"no other waits":           {waited: 600 * time.Millisecond, alone: true},
		"it is paused":             {waited: 600 * time.Millisecond, pause: &pause},
		"it was not taken back":    {waited: 600 * time.Millisecond, gone: true},
		"it could not tell":        {waited: 600 * time.Millisecond, excused: true, want: true},
		"another client is paused": {waited: 600 * time.Millisecond, pause: &history.Event{Process: history.NemesisProcess, F: history.PauseFault, Type: history.Invoke, Op: 9, Target: "c2"}, want: true},
	} {
		recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = recorder.Close() })
		r := &Run{plan: plan, recorder: recorder, timeouts: newTimeouts(plan, []string{"n1"}), monitor: newMonitor(plan)}
		for i, name := range []string{"c1", "c2"}[:map[bool]int{true: 1, false: 2}[c.alone]] {
			r.monitor.watch(history.Event{F: history.Acquire, Type: history.Invoke, Client: name, Op: int64(i + 1), Key: "k1"})
		}
		if c.pause != nil {
			r.timeouts.watch(*c.pause)
		}
		i := newImpatience(r, 1)
		if c.gone {
			i.asked = 7
			if !i.untold(client.Command{Cmd: client.CmdAcquire, Op: 7}, "c1", false) {
				t.Errorf("%s: its client may live on", name)
			}
		}
		if c.excused {
			i.asked = 7
			if i.untold(client.Command{Cmd: client.CmdAcquire, Op: 7}, "c1", true) || i.untold(client.Command{Cmd: client.CmdAcquire, Op: 8}, "c1", false) {
				t.Errorf("%s: its client has to die", name)
			}
		}
		if got := i.wantsBack(1, after, recorder.Now()-int64(c.waited), "c1"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if none := newImpatience(&Run{}, 1); none.draw(client.Command{Cmd: client.CmdAcquire}) != 0 {
		t.Error("a plan without them has acquires that are given up")
	}
	i, drawn := newImpatience(&Run{plan: plan}, 1), 0
	for range 600 {
		if d := i.draw(client.Command{Cmd: client.CmdAcquire}); d > longestPatience {
			t.Errorf("after %v", d)
		} else if d > 0 {
			drawn++
		}
	}
	if drawn < 50 || drawn > 200 || i.draw(client.Command{Cmd: client.CmdRelease}) != 0 {
		t.Errorf("%d of 600", drawn)
	}
}

// One that is to be given up soon is cancelled once, while the load goes on, and ends as its client says.
func TestAWaitIsGivenUpSoon(t *testing.T) {
	for name, test := range map[string]struct {
		untold, over, givenUp bool
	}{
		"while the load goes on":       {givenUp: true},
		"when the load is over":        {over: true},
		"after one that was not known": {untold: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, tick, heard := askedOf(t, true)
			w.run.timeouts.limit, w.patience = time.Hour, rand.New(drawnPatient)
			w.impatient = impatience{run: w.run, random: rand.New(drawnImpatient)}
			w.run.monitor.watch(event(history.Acquire, history.Invoke, "c1", "h1", "k1", 1))
			w.run.monitor.watch(event(history.Acquire, history.Invoke, "c2", "h2", "k1", 2))
			w.run.untold.Store(test.untold)
			if test.over {
				close(w.run.stopping)
			}
			done := acquiring(t, w)
			<-heard
			for test.over && w.turn() != turnWaits {
				time.Sleep(time.Millisecond)
			}
			if !test.givenUp {
				for range 3 {
					tick <- time.Now() // taken, so the one before was looked at
				}
				if !test.over {
					close(w.run.stopping)
				}
				close(w.run.waited)
				if <-done; w.impatient.asked != 0 {
					t.Error("it was given up")
				}
				return
			}
			tick <- time.Now()
			if word := <-heard; !strings.Contains(word, "cancel") {
				t.Errorf("it was told %s", word)
			}
			if c := <-done; c.Type != history.Fail || len(heard) > 0 {
				t.Errorf("it came to %s, and %d more words were said", c.Type, len(heard))
			}
		})
	}
}
