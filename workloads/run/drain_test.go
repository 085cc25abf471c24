package run

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// askedOf is a worker whose client never answers an acquire but when it is told to give it up, if it does so; each word that it reads
// comes out of the channel.
func askedOf(t *testing.T, answersCancel bool) (w *worker, tick chan time.Time, heard chan string) {
	t.Helper()
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recorder.Close() })
	in, stdin := pipe(t)
	stdout, out := pipe(t)
	heard = make(chan string, 10)
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if answersCancel && strings.Contains(lines.Text(), `"cancel"`) {
				fmt.Fprintln(out, `{"msg":"fail","op":1,"code":"cancelled"}`)
			}
			heard <- lines.Text()
		}
	}()
	run := &Run{recorder: recorder, monitor: newMonitor(history.Plan{}), stopping: make(chan struct{}), waited: make(chan struct{})}
	run.timeouts = newTimeouts(history.Plan{EffectiveMS: 1000, Clients: 1}, nil)
	run.timeouts.limit, run.timeouts.queue = -time.Hour, 0 // any operation has been waited for long enough
	w = newWorker(run, 1, &member{name: "c1", driver: driver.New("c1", stdin, stdout, recorder, nil)})
	tick = make(chan time.Time)
	w.tick = &time.Ticker{C: tick}
	return w, tick, heard
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return r, w
}

func acquiring(t *testing.T, w *worker) (done chan driver.Completion) {
	done = make(chan driver.Completion, 1)
	go func() {
		done <- w.Do(t.Context(), client.Command{Cmd: client.CmdAcquire, Op: 1, Hold: "h1", Key: "k1"})
	}()
	return done
}

// drawn is a source of random numbers that always gives the same: none that IntN draws once more.
type drawn uint64

func (d drawn) Uint64() uint64 { return uint64(d) }

const (
	drawnImpatient drawn = 1 << 32
	drawnPatient   drawn = 1<<63 | 1<<32
)

// Of the acquires that wait too long some are given up while the load goes on, but never the last that waits for its lock.
func TestAWaitIsGivenUpWhileTheLoadGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		draw    drawn
		others  string // that another client waits for; "" for none
		givenUp bool
	}{
		"one that is drawn, beside another": {drawnImpatient, "k1", true},
		"one that is not drawn":             {drawnPatient, "k1", false},
		"the last one":                      {drawnImpatient, "", false},
		"the last one of its lock":          {drawnImpatient, "k2", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, tick, heard := askedOf(t, true)
			w.patience = rand.New(test.draw)
			w.run.monitor.watch(event(history.Acquire, history.Invoke, "c1", "h1", "k1", 1))
			if test.others != "" {
				w.run.monitor.watch(event(history.Acquire, history.Invoke, "c2", "h2", test.others, 2))
			}
			done := acquiring(t, w)
			<-heard
			tick <- time.Now()
			if test.givenUp {
				if c := <-done; c.Type != history.Info {
					t.Errorf("it came to %s", c.Type)
				}
				return
			}
			tick <- time.Now() // taken, so the one before was looked at
			select {
			case c := <-done:
				t.Errorf("it came to %s", c.Type)
			default:
			}
			close(w.run.stopping)
			close(w.run.waited)
			<-done
		})
	}
}

// Of two that wait for one lock only one can be given up, however late the history says so.
func TestTheLastWaiterIsNeverGivenUp(t *testing.T) {
	m := newMonitor(history.Plan{})
	m.watch(event(history.Acquire, history.Invoke, "c1", "h1", "k1", 1))
	m.watch(event(history.Acquire, history.Invoke, "c2", "h2", "k1", 2))
	if first, second := m.giveUp(1), m.giveUp(2); !first || second {
		t.Errorf("%t, then %t", first, second)
	}
}

func TestOldWaitersAreNeitherGivenUpNorCancelledBeforeTheirTime(t *testing.T) {
	w, tick, heard := askedOf(t, true)
	close(w.run.stopping)
	done := acquiring(t, w)
	if asked := <-heard; !strings.Contains(asked, "acquire") {
		t.Fatalf("it was told %s", asked)
	}
	for w.turn() != turnWaits {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		tick <- time.Now() // taken, so looked at
	}
	select {
	case c := <-done:
		t.Fatalf("it came to %s while old waiters wait", c.Type)
	case word := <-heard:
		t.Fatalf("it was told %s while old waiters wait", word)
	default:
	}
	close(w.run.waited)
	if word := <-heard; !strings.Contains(word, "cancel") {
		t.Errorf("it was told %s", word)
	}
	if c := <-done; c.Type != history.Fail || w.turn() != turnBusy {
		t.Errorf("it came to %s, turn %d", c.Type, w.turn())
	}
}

// A client that does not answer what it was told to give up holds up no run, whatever was drawn.
func TestAClientThatAnswersNoCancelIsGivenUp(t *testing.T) {
	for _, draw := range []drawn{drawnImpatient, drawnPatient} {
		w, tick, heard := askedOf(t, false)
		w.patience = rand.New(draw)
		close(w.run.stopping)
		close(w.run.waited)
		done := acquiring(t, w)
		for word := range heard {
			if strings.Contains(word, "cancel") {
				break
			}
		}
		tick <- time.Now()
		if c := <-done; c.Type != history.Info {
			t.Errorf("it came to %s", c.Type)
		}
	}
}

// event makes events of tests in few words.
func event(f history.F, kind history.Type, client, hold, key string, op int64) history.Event {
	return history.Event{F: f, Type: kind, Client: client, Process: client, Hold: hold, Key: key, Op: op, TimeNS: op}
}

func TestWhoHangs(t *testing.T) {
	acquire := func(kind history.Type, client, key string, op int64) history.Event {
		return event(history.Acquire, kind, client, "h", key, op)
	}
	phase := history.Event{F: history.Phase, Value: history.PhaseWaiting}
	lease := func(kind history.Type, session string, at int64) history.Event {
		return history.Event{F: history.Renew, Type: kind, Client: "c2", Session: session, TimeNS: at}
	}
	began, ended := lease(history.OK, "s2", 0), lease(history.Fail, "s2", 9)
	notOne := ended
	notOne.Hold = "h9"
	for name, test := range map[string]struct {
		events []history.Event
		want   string
	}{
		"none waits": {[]history.Event{acquire(history.Invoke, "c1", "k1", 1), acquire(history.OK, "c1", "k1", 1), phase}, ""},
		"one waits":  {[]history.Event{acquire(history.Invoke, "c2", "k1", 1), phase}, "c2 still waits for k1"},
		"several of several locks": {[]history.Event{acquire(history.Invoke, "c3", "k1", 1), acquire(history.Invoke, "c2", "k1", 2), acquire(history.Invoke, "c1", "k2", 3), phase},
			"c3 and c2 still wait for k1 and c1 for k2"},
		"granted before the phase": {[]history.Event{acquire(history.Invoke, "c2", "k1", 1), acquire(history.Invoke, "c1", "k1", 2), acquire(history.OK, "c1", "k1", 2), phase}, "c2 still waits for k1"},
		"granted in the phase":     {[]history.Event{acquire(history.Invoke, "c2", "k1", 1), acquire(history.Invoke, "c1", "k1", 2), phase, acquire(history.OK, "c1", "k1", 2)}, ""},
		"another lock granted":     {[]history.Event{acquire(history.Invoke, "c2", "k1", 1), acquire(history.Invoke, "c1", "k2", 2), phase, acquire(history.OK, "c1", "k2", 2)}, "c2 still waits for k1"},
		"refused in the phase":     {[]history.Event{acquire(history.Invoke, "c2", "k1", 1), phase, acquire(history.Fail, "c2", "k1", 1)}, ""},
		"its session ends":         {[]history.Event{began, acquire(history.Invoke, "c2", "k1", 1), phase, ended}, ""},
		"a hold of it ends":        {[]history.Event{began, acquire(history.Invoke, "c2", "k1", 1), phase, notOne}, "c2 still waits for k1"},
		"its session had ended":    {[]history.Event{began, ended, acquire(history.Invoke, "c2", "k1", 10), phase}, "c2 still waits for k1"},
		"it has another session":   {[]history.Event{began, acquire(history.Invoke, "c2", "k1", 1), lease(history.OK, "s3", 2), ended, phase}, "c2 still waits for k1"},
		"it gets another session":  {[]history.Event{began, acquire(history.Invoke, "c2", "k1", 1), ended, phase, lease(history.OK, "s3", 12)}, "c2 still waits for k1"},
		"one it had ends again":    {[]history.Event{began, lease(history.Fail, "s2", 1), acquire(history.Invoke, "c2", "k1", 2), ended, phase}, "c2 still waits for k1"},
		"a try":                    {[]history.Event{{F: history.Acquire, Type: history.Invoke, Client: "c2", Key: "k1", Op: 1, Try: true}, phase}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaiters()
			for _, e := range test.events {
				w.take(e)
			}
			if got := hangingWords(w.hanging()); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestWhoMayHoldALock(t *testing.T) {
	of := func(f history.F, kind history.Type) history.Event { return event(f, kind, "c1", "h1", "k1", 1) }
	session := func(e history.Event) history.Event {
		e.Session = "s1"
		return e
	}
	notOwned, owned := of(history.Release, history.Fail), false
	notOwned.Owned = &owned
	refused := of(history.Release, history.Fail)
	refused.Code = history.CodeRefused
	ended := session(history.Event{F: history.Renew, Type: history.Fail, Client: "c1"})
	granted, unknown := session(of(history.Acquire, history.OK)), of(history.Acquire, history.Info)
	for name, test := range map[string]struct {
		events         []history.Event
		working, ready bool // may hold while the worker may still give it back; and when it is done
	}{
		"it was refused":                  {[]history.Event{of(history.Acquire, history.Fail)}, false, false},
		"a grant":                         {[]history.Event{granted}, false, true},
		"a grant that was released":       {[]history.Event{granted, of(history.Release, history.Invoke), of(history.Release, history.OK)}, false, false},
		"a grant that was not its own":    {[]history.Event{granted, notOwned}, false, false},
		"a release that is not answered":  {[]history.Event{granted, of(history.Release, history.Invoke)}, false, true},
		"a release of unknown outcome":    {[]history.Event{granted, of(history.Release, history.Info)}, true, true},
		"and released again":              {[]history.Event{granted, of(history.Release, history.Info), of(history.Release, history.OK)}, false, false},
		"a release that was never sent":   {[]history.Event{granted, refused}, true, true},
		"a grant that was lost":           {[]history.Event{granted, of(history.Lost, history.Info)}, false, false},
		"a grant whose session was lost":  {[]history.Event{granted, session(event(history.Lost, history.Info, "c1", "", "", 0))}, false, false},
		"a grant whose session has ended": {[]history.Event{granted, ended}, false, false},
		"a request of unknown outcome":    {[]history.Event{unknown}, true, true},
		"it may be under another session": {[]history.Event{session(unknown), ended}, true, true},
		"its late grant was released":     {[]history.Event{unknown, of(history.Release, history.OK)}, false, false},
		"its client has ended":            {[]history.Event{unknown, of(history.Exit, history.Info)}, false, false},
		"its client was asked to end":     {[]history.Event{unknown, of(history.Exit, history.Invoke)}, true, true},
		"another client's":                {[]history.Event{event(history.Acquire, history.Info, "c2", "h2", "k1", 2)}, false, false},
		"a lock that no other waits for":  {[]history.Event{event(history.Acquire, history.Info, "c1", "h2", "k2", 2)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClaims()
			for _, e := range test.events {
				c.take(e)
			}
			keys := map[string]bool{"k1": true}
			if working, done := c.mayHold("c1", keys, false), c.mayHold("c1", keys, true); working != test.working || done != test.ready {
				t.Errorf("may hold: %v, and when it is done: %v; want %v, %v", working, done, test.working, test.ready)
			}
		})
	}
}

// The harness waits for no less than the checker asks for.
func TestAWaitIsOverAfterTheCheckersBound(t *testing.T) {
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	recorder.epoch = recorder.epoch.Add(-time.Hour) // so that there is a time before the wait
	run := &Run{recorder: recorder, timeouts: newTimeouts(history.Plan{EffectiveMS: 1000, Clients: 1}, []string{"n1"}), observed: history.Observed{SameKernel: true}}
	clock := history.Event{Process: history.NemesisProcess, F: history.ClockFault, Type: history.OK, Op: 1, Target: "n1", SkewNS: 90e9}
	healed := clock
	healed.Heal = true
	for name, test := range map[string]struct {
		waitedS int64
		events  []history.Event
		over    bool
	}{
		"not yet":                       {30, nil, false},
		"a probe later":                 {32, nil, true},
		"the harness stood still":       {32, []history.Event{{F: history.Stall, TimeNS: 2e9}}, false},
		"a server's clock was set back": {100, []history.Event{clock, healed}, false},
		"and that has passed":           {122, []history.Event{clock, healed}, true},
		"a longer lease":                {40, []history.Event{{F: history.Renew, Type: history.OK, TTLNS: 20e9}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			run.monitor = newMonitor(history.Plan{EffectiveMS: 2000})
			now := recorder.Now()
			w := run.startWait()
			w.fromNS, w.beganNS = now-test.waitedS*1e9, now-test.waitedS*1e9
			for _, e := range test.events {
				e.TimeNS += w.fromNS
				e.FromNS += w.fromNS
				run.monitor.watch(e)
			}
			if got := w.over(); got != test.over {
				t.Errorf("over: %v", got)
			}
			if w.again(); w.over() {
				t.Error("over although it counts from now")
			}
		})
	}
}

// Where others run the servers no wait is judged (R10): none is longer than a lock needs to come free by itself.
func TestAWaitThatIsNotJudgedIsShort(t *testing.T) {
	recorder, err := NewRecorder(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	recorder.epoch = recorder.epoch.Add(-time.Hour)
	run := &Run{recorder: recorder, timeouts: newTimeouts(history.Plan{}, nil), monitor: newMonitor(history.Plan{EffectiveMS: 2000}),
		plan: history.Plan{EffectiveMS: 2000, LockDelayMS: 1000}}
	for waited, over := range map[time.Duration]bool{2500 * time.Millisecond: false, 3500 * time.Millisecond: true} {
		w := run.startWait()
		w.beganNS -= int64(waited)
		if w.over() != over {
			t.Errorf("after %v over is %t", waited, !over)
		}
		if w.again(); w.over() != over {
			t.Errorf("it began again after %v", waited)
		}
	}
}
