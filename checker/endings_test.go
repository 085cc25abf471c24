package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit"
)

// ending is a random history that is mostly the end of a run: clients that wait beyond their sessions, clients that were
// waiting when everything was healed, and the final phase. Everything in it happens at whole seconds.
type ending struct {
	*testkit.Scribe
	op                  int64
	waiting, final, end int64 // waiting is 0 in a recording from before there was that phase
}

func randomEnding(seed uint64) *testkit.Scribe {
	r := rand.New(rand.NewPCG(seed, 9))
	e := &ending{Scribe: &testkit.Scribe{R: r, Plan: history.Plan{
		Version: history.FormatVersion, EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensNone, SameKernel: true}}}
	if r.IntN(3) == 0 {
		e.Plan.ElectionMS = 5000
	}
	e.final = 20 + e.upTo(40)
	if r.IntN(4) > 0 {
		e.waiting = 4 + e.upTo(16)
		e.final = e.waiting + 25 + e.upTo(60)
		e.mark(e.waiting, history.PhaseWaiting)
	}
	e.end = e.final + 10 + e.upTo(80)
	e.mark(0, history.PhaseLoad)
	e.mark(e.final, history.PhaseFinal)
	e.zombies()
	if e.waiting > 0 {
		e.oldWaiters()
		e.others()
	}
	e.freshSessions()
	e.disturbances()
	e.clocks()
	e.probes()
	e.silences(seed)
	e.finish()
	return e.Scribe
}

func (e *ending) upTo(n int64) int64      { return e.R.Int64N(max(n, 1)) }
func (e *ending) oneIn(n int) bool        { return e.R.IntN(n) == 0 }
func (e *ending) mark(at int64, p string) { e.add(at, e.harness(history.Info, history.Phase, p)) }

func (e *ending) add(at int64, event history.Event) {
	event.TimeNS = at * aSecond
	e.Events = append(e.Events, event)
}

// span adds an operation; last is left out if it was never answered.
func (e *ending) span(at, length int64, first, last history.Event) {
	e.op++
	first.Op, last.Op = e.op, e.op
	e.add(at, first)
	if last.Type != history.Invoke {
		e.add(at+length, last)
	}
}

func (e *ending) harness(kind history.Type, f history.F, value string) history.Event {
	return history.Event{Process: history.HarnessProcess, Type: kind, F: f, Value: value}
}

func (e *ending) client(name string, kind history.Type, f history.F) history.Event {
	return history.Event{Process: name, Client: name, Type: kind, F: f, Hold: "h" + name, Key: "k"}
}

// ended is a client's end, or that it was asked to.
func (e *ending) exit(name string, kind history.Type, at int64) {
	x := e.client(name, kind, history.Exit)
	x.Hold, x.Key = "", ""
	e.add(at, x)
}

// acquire asks for the lock and answers, or does not.
func (e *ending) acquire(name string, at, length int64, kinds ...history.Type) {
	done := e.client(name, kinds[e.R.IntN(len(kinds))], history.Acquire)
	if done.Type == history.Fail && e.oneIn(2) {
		done.Code = history.CodeCancelled
	}
	asked := e.client(name, history.Invoke, history.Acquire)
	asked.Try = e.oneIn(12)
	e.span(at, min(length, e.end-at), asked, done)
}

// lease is a report about a session, or about one hold.
func (e *ending) lease(name, session string, kind history.Type, at, ttl int64) {
	l := e.client(name, kind, history.Renew)
	l.Session, l.TTLNS = session, ttl*aSecond
	if session != "" {
		l.Hold, l.Key = "", ""
	}
	e.add(at, l)
}

// zombies are clients whose sessions end while they wait.
func (e *ending) zombies() {
	if e.oneIn(3) || e.waiting > 0 && !e.oneIn(3) {
		return
	}
	for n := range 1 + e.upTo(2) {
		session := fmt.Sprint("s", n)
		e.lease("z", session, history.OK, 6*n+e.upTo(6), 2)
		e.lease("z", session, history.Fail, 12+e.upTo(20), 0)
	}
	e.acquire("z", e.upTo(12), e.upTo(100), history.OK, history.Fail, history.Info, history.Invoke)
	if e.oneIn(3) {
		e.exit("z", []history.Type{history.Invoke, history.Info}[e.R.IntN(2)], 10+e.upTo(80))
	}
}

// pendingWaiters ask for the lock before everything is healed, mostly.
func (e *ending) oldWaiters() {
	for n := range 1 + e.upTo(3) {
		name, at := fmt.Sprint("w", n), 1+e.upTo(e.waiting-1)
		length := e.final - at
		if e.oneIn(3) {
			length = e.upTo(length)
		}
		if e.oneIn(12) {
			at = e.waiting + e.upTo(3)
		}
		kinds := []history.Type{history.Fail, history.Fail, history.Invoke}
		if e.oneIn(8) {
			kinds = []history.Type{history.OK, history.Info}
		}
		e.acquire(name, at, length, kinds...)
		for n := range e.upTo(7) / 3 {
			session := fmt.Sprint("s", n, name)
			e.lease(name, session, history.OK, 1+e.upTo(at+n*20), 2)
			if e.oneIn(3) {
				e.lease(name, session, history.Fail, at+e.upTo(e.final-at), 0)
			}
		}
		if e.oneIn(6) {
			e.exit(name, []history.Type{history.Invoke, history.Info}[e.R.IntN(2)], e.waiting+e.upTo(60))
		}
	}
}

// others had the lock, or may have.
func (e *ending) others() {
	for n := range e.upTo(5) / 2 {
		name, at := fmt.Sprint("o", n), e.upTo(e.waiting)
		if e.oneIn(8) {
			at += e.upTo(20)
		}
		done := at + e.upTo(3)
		e.acquire(name, at, done-at, history.OK, history.OK, history.Info, history.Fail)
		for done++; e.oneIn(5) == false; {
			answer := e.client(name, []history.Type{history.OK, history.OK, history.Fail, history.Info}[e.R.IntN(4)], history.Release)
			if answer.Type == history.Fail {
				answer.Code = []string{history.CodeNotOwned, history.CodeRefused}[e.R.IntN(2)]
			}
			length := e.upTo(4)
			e.span(done, length, e.client(name, history.Invoke, history.Release), answer)
			if done += length; e.oneIn(3) {
				break
			}
		}
		switch e.R.IntN(9) {
		case 0, 1, 8:
			e.exit(name, history.Info, done+e.upTo(20))
		case 2:
			lost := e.client(name, history.Info, history.Lost)
			e.add(done+e.upTo(20), lost)
		case 3:
			e.lease(name, "", history.Fail, done+e.upTo(20), 0)
		case 4:
			e.lease(name, "", history.OK, done+e.upTo(20), []int64{2, 2, 4, 9, 15}[e.R.IntN(5)])
		}
	}
}

// freshSessions ask for the lock in the final phase; mostly, after a phase for old waiters, they get it.
func (e *ending) freshSessions() {
	at := e.final
	easy := e.waiting > 0 && !e.oneIn(6)
	for n := range 1 + e.upTo(4) {
		name := fmt.Sprint("f", n)
		if easy {
			e.acquire(name, at, e.upTo(3), history.OK)
			at += 3
			continue
		}
		if at += e.upTo(15); at < e.end {
			e.acquire(name, at, e.upTo(70), history.OK, history.OK, history.Fail, history.Fail, history.Info, history.Invoke)
		}
	}
}

func (e *ending) disturbances() {
	for range e.upTo(3) {
		from := e.upTo(e.end)
		stall := e.harness(history.Info, history.Stall, "")
		stall.FromNS = from * aSecond
		e.add(from+e.upTo(10), stall)
	}
	for range e.upTo(2) {
		fault := history.Event{Process: history.NemesisProcess, F: "pause", Target: "z", Type: history.Invoke}
		end := fault
		if end.Type, end.Heal = history.OK, true; e.oneIn(4) {
			end.Type, end.Heal, end.Error = history.Fail, false, "it had no verified effect"
		}
		e.span(1+e.upTo(30), e.upTo(20), fault, end)
	}
}

// silences are of clients that hang by themselves, in a quarter of the histories.
func (e *ending) silences(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 41))
	if r.IntN(4) > 0 {
		return
	}
	until := map[string]int64{}
	for _, x := range slices.Clone(e.Events) {
		if x.F == history.Acquire && x.Type == history.Invoke && r.IntN(3) == 0 {
			from := max(x.TimeNS/aSecond-r.Int64N(4), until[x.Client], 1) + r.Int64N(8)
			silent := e.client(x.Client, history.Info, history.Silent)
			silent.Hold, silent.Key, silent.FromNS = "", "", from*aSecond
			until[x.Client] = from + 1 + r.Int64N(40)
			e.add(until[x.Client], silent)
		}
	}
}

// clocks sets the machine's clock, and those of servers and of a client.
func (e *ending) clocks() {
	for range e.upTo(5) / 2 {
		from := e.upTo(e.end)
		step := e.harness(history.Info, history.ClockStep, "")
		step.FromNS, step.SkewNS = from*aSecond, (e.upTo(24)-12)*aSecond
		e.add(from+e.upTo(2), step)
	}
	for range e.upTo(5) / 2 {
		at := 1 + e.upTo(30)
		length := 1 + e.upTo(6)
		if slices.ContainsFunc(e.Events, func(c history.Event) bool { // at one moment, nothing tells which of the two came first
			return (c.F == history.ClockStep || c.F == history.ClockFault) && (c.TimeNS == at*aSecond || c.TimeNS == (at+length)*aSecond)
		}) {
			continue
		}
		e.op++
		fault := history.Event{Process: history.NemesisProcess, F: history.ClockFault, Target: []string{"n1", "n1", "n2", "z"}[e.R.IntN(4)],
			Op: e.op, SkewNS: (e.upTo(40) - 10) * aSecond, Clock: []history.Clock{"", history.ClockWall, history.ClockWall, history.ClockMonotonic}[e.R.IntN(4)]}
		for n, kind := range []history.Type{history.Invoke, history.OK, history.Invoke, history.OK} {
			fault.Type, fault.Heal = kind, n > 1
			e.add(at+int64(n)/2*length, fault)
		}
	}
}

func (e *ending) probes() {
	outcomes := []history.Type{history.OK, history.OK, history.OK, history.Fail, history.Info}
	if !e.oneIn(3) {
		outcomes = outcomes[:3]
	}
	at := e.final
	if e.waiting > 0 {
		at = e.waiting
	}
	for at += e.upTo(5); at < e.end; at += 2 + e.upTo(20) {
		e.span(at, e.upTo(2), e.harness(history.Invoke, history.Probe, ""), e.harness(outcomes[e.R.IntN(len(outcomes))], history.Probe, ""))
	}
}

// finish puts the lines in order and ends the run. Of what a client said after its end nothing is left, nor what it was asked
// for then.
func (e *ending) finish() {
	sort.SliceStable(e.Events, func(a, b int) bool { return e.Events[a].TimeNS < e.Events[b].TimeNS })
	e.Events = slices.DeleteFunc(e.Events, func(x history.Event) bool { return x.TimeNS > e.end*aSecond })
	e.mark(e.end, history.PhaseEnd)
	for i := range e.Events {
		e.Events[i].Index = int64(i)
	}
}
