package checker

import (
	"math/big"

	"lockcheck/checker/history"
)

// The oracles judge small histories straight from rules.md: every rule as a loop over all events, however often, with
// nothing of the checker's but the formats of the recording. Where the checker is clever they are plain.

// fact is one hold as its events tell it.
type fact struct {
	id, key, client, session, token string
	invoke, done, seen              int64
	outcome                         history.Type // Invoke while it is open
	code                            string
	try                             bool
	attempts                        []attemptFact
	accesses                        []accessFact
}

type attemptFact struct {
	f                  history.F
	invoke, done, seen int64
	outcome            history.Type
	owned              *bool
	code               string
}

type accessFact struct {
	op           int64
	f            history.F
	invoke, done int64
	outcome      history.Type
	value        string
	log          int // where the resource applied it, from 1; 0 if it did not
}

// facts are the holds of a history in the order of their invocations.
func facts(events []history.Event, requests []history.Request) (all []*fact) {
	for _, e := range events {
		if e.F == history.Acquire && e.Type == history.Invoke {
			h := &fact{id: e.Hold, key: e.Key, client: e.Client, invoke: e.TimeNS, outcome: history.Invoke, try: e.Try}
			for _, c := range events {
				if c.Op == e.Op && c.Type != history.Invoke && c.Process != history.HarnessProcess {
					h.done, h.outcome, h.code, h.seen = c.TimeNS, c.Type, c.Code, c.SeenNS
					h.token = c.Token
					if c.Type == history.OK {
						h.session = c.Session
					}
				}
			}
			h.operations(events, requests)
			all = append(all, h)
		}
	}
	return all
}

func (h *fact) operations(events []history.Event, requests []history.Request) {
	for _, e := range events {
		if e.Hold != h.id || e.Type != history.Invoke || e.Op == 0 || e.F == history.Acquire {
			continue
		}
		var end history.Event
		end.Type = history.Invoke
		for _, c := range events {
			if c.Op == e.Op && c.Type != history.Invoke {
				end = c
			}
		}
		if e.F == history.Release || e.F == history.Renew {
			h.attempts = append(h.attempts, attemptFact{e.F, e.TimeNS, end.TimeNS, end.SeenNS, end.Type, end.Owned, end.Code})
			continue
		}
		a := accessFact{op: e.Op, f: e.F, invoke: e.TimeNS, done: end.TimeNS, outcome: end.Type, value: e.Value}
		if e.F == history.Read {
			a.value = end.Value
		}
		for i, q := range requests {
			if number(q.Request) == e.Op && q.Outcome == history.Applied {
				a.log = i + 1
			}
		}
		h.accesses = append(h.accesses, a)
	}
}

func number(text string) int64 {
	n, _ := new(big.Int).SetString(text, 10)
	return n.Int64()
}

// start is when the winning attempt was sent at the earliest (R2).
func (h *fact) start() int64 { return max(h.invoke, h.seen) }

// before tells whether g was asked for after h's acquire had completed.
func (h *fact) before(g *fact) bool { return h.outcome == history.OK && g.start() > h.done }

// higher compares tokens as numbers; false if one of them has none.
func higher(a, b string) bool {
	x, okX := new(big.Int).SetString(a, 10)
	y, okY := new(big.Int).SetString(b, 10)
	return okX && okY && x.Cmp(y) > 0
}

func (a *attemptFact) sent() int64    { return max(a.invoke, a.seen) }
func (a *attemptFact) answered() bool { return a.outcome == history.OK || a.outcome == history.Fail }
func (a *attemptFact) acted() bool    { return a.answered() && a.owned != nil && *a.owned }

func (a *attemptFact) notOwned() bool {
	return a.answered() && (a.owned != nil && !*a.owned || a.owned == nil && a.outcome == history.Fail && a.code == history.CodeNotOwned)
}

// oracle is a recording with its facts.
type oracle struct {
	plan     history.Plan
	events   []history.Event
	requests []history.Request
	holds    []*fact
	steps    int // of one search; 0: any number
}

func newOracle(plan history.Plan, events []history.Event, requests []history.Request) *oracle {
	return &oracle{plan: plan, events: events, requests: requests, holds: facts(events, requests)}
}

func (o *oracle) hold(id string) *fact {
	for _, h := range o.holds {
		if h.id == id {
			return h
		}
	}
	return nil
}

// first is the first event that fits, its time; 0 if there is none.
func (o *oracle) first(fits func(*history.Event) bool) int64 {
	for i := range o.events {
		if fits(&o.events[i]) {
			return o.events[i].TimeNS
		}
	}
	return 0
}

func (o *oracle) released(h *fact, except int) int64 {
	for i, a := range h.attempts {
		if a.f == history.Release && i != except {
			return a.invoke
		}
	}
	return 0
}

func (o *oracle) asksToClose(client string) int64 {
	return o.first(func(e *history.Event) bool {
		return e.F == history.Exit && e.Type == history.Invoke && e.Client == client
	})
}

func (o *oracle) exits(client string) int64 {
	return o.first(func(e *history.Event) bool {
		return e.F == history.Exit && e.Type == history.Info && e.Client == client
	})
}

// lost is when the library said that this hold, or its session, is gone; what it says of a session after the release was
// sent is not about this hold.
func (o *oracle) lost(h *fact) int64 {
	own := o.first(func(e *history.Event) bool { return e.F == history.Lost && e.Hold == h.id })
	if own != 0 {
		return own
	}
	at := o.first(func(e *history.Event) bool { return e.F == history.Lost && h.session != "" && e.Session == h.session })
	if r := o.released(h, -1); r != 0 && at >= r {
		return 0
	}
	return at
}

// ended is when the server had said that the grant, or its session, is gone (R6).
func (o *oracle) ended(h *fact) int64 {
	return o.first(func(e *history.Event) bool {
		return e.F == history.Renew && e.Op == 0 && e.Type == history.Fail && (e.Hold == h.id || e.Hold == "" && h.session != "" && e.Session == h.session)
	})
}

// voided: the loss was told before the grant was (R3).
func (o *oracle) voided(h *fact) bool {
	at := o.first(func(e *history.Event) bool {
		return e.F == history.Lost && (e.Hold == h.id || h.session != "" && e.Session == h.session)
	})
	return at != 0 && at <= h.done
}

// believed is until when the client is known to have believed in its hold (R4); 0 if that is not known.
func (o *oracle) believed(h *fact) int64 {
	if h.outcome != history.OK || o.voided(h) {
		return 0
	}
	until := int64(0)
	for _, e := range o.events {
		if e.Hold == h.id {
			until = max(until, e.HeldNS)
		}
	}
	for _, end := range []int64{o.released(h, -1), o.asksToClose(h.client)} {
		if end != 0 {
			until = min(until, end)
		}
	}
	if until <= h.done {
		return 0
	}
	return until
}

// promised is R5: the maximum over acknowledged requests of stamp(seen) + TTL less drift, less what the wall clock was set forward by meanwhile, as
// far as no stall ends it.
func (o *oracle) promised(h *fact) int64 {
	if !o.plan.SameKernel || h.outcome != history.OK {
		return 0
	}
	until := int64(0)
	for _, l := range o.events {
		if l.F != history.Renew || l.Op != 0 || l.Type != history.OK {
			continue
		}
		if l.Hold != h.id && (l.Hold != "" || h.session == "" || l.Session != h.session) {
			continue
		}
		end := l.SeenNS + l.TTLNS - o.plan.DriftMS*1e6
		for _, s := range o.events {
			if s.F == history.ClockStep && s.TimeNS >= l.SeenNS && s.FromNS < end && s.SkewNS > 0 {
				end = max(end-s.SkewNS, s.FromNS)
			}
		}
		for _, s := range o.events {
			if s.F == history.Stall && s.TimeNS >= l.SeenNS {
				end = min(end, o.stallBegan(s.FromNS))
			}
		}
		until = max(until, end)
	}
	return until
}

// stallBegan is when the stall that a moment of one belongs to began: stalls that touch are one.
func (o *oracle) stallBegan(ns int64) int64 {
	for again := true; again; {
		again = false
		for _, s := range o.events {
			if s.F == history.Stall && s.FromNS < ns && s.TimeNS >= ns {
				ns, again = s.FromNS, true
			}
		}
	}
	return ns
}

// stopped is when the protection of a hold stops although the lease runs: any release but the one that is looked at, the
// asking to close, the end of the client, from its last word on.
func (o *oracle) stopped(h *fact, except int) int64 {
	at := int64(never)
	if r := o.released(h, except); r != 0 {
		at = min(at, r)
	}
	lastWord := max(o.believed(h), h.done)
	if c := o.asksToClose(h.client); c != 0 {
		at = min(at, c)
	} else if x := o.exits(h.client); x != 0 {
		at = min(at, x, lastWord)
	}
	return at
}

// protected is until when the service must not give the lock away (R5). A client that was told of the loss tidies up.
func (o *oracle) protected(h *fact) int64 {
	until := min(o.promised(h), o.stopped(h, -1))
	if o.lost(h) != 0 {
		until = min(until, max(o.believed(h), h.done))
	}
	if until <= h.done {
		return 0
	}
	return until
}
