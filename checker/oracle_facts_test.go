package checker

import (
	"math/big"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// The oracles judge small histories straight from rules.md: every rule as a loop over all events, however often, with
// nothing of the checker's but the formats of the recording. Where the checker is clever they are plain.

// fact is one hold as its events tell it.
type fact struct {
	id, key, client, session, token string
	invoke, done, seen              int64
	outcome                         history.Type // Invoke while it is open
	code                            string
	try, gaveBack                   bool
	attempts                        []attemptFact
	accesses                        []accessFact
}

type attemptFact struct {
	f                  history.F
	invoke, done, seen int64
	outcome            history.Type
	owned              *bool
	removed            bool
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
					h.token, h.gaveBack = c.Token, c.GaveBack
					if c.Type == history.OK || c.Type == history.Info {
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
			h.attempts = append(h.attempts, attemptFact{e.F, e.TimeNS, end.TimeNS, end.SeenNS, end.Type, end.Owned, end.Removed, end.Code})
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

// before reports whether g was asked for after h's acquire had completed.
func (h *fact) before(g *fact) bool { return h.outcome == history.OK && g.start() > h.done }

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

// released is when a release was first invoked, with any outcome.
func (o *oracle) released(h *fact) int64 {
	for _, a := range h.attempts {
		if a.f == history.Release {
			return a.invoke
		}
	}
	return 0
}

// refused: it was never sent.
func (a *attemptFact) refused() bool {
	return a.outcome == history.Fail && a.code == history.CodeRefused
}

// mayBeOne: a session that is not known may be any.
func mayBeOne(a, b string) bool { return a == "" || b == "" || a == b }

// seenGone is when the service had first said that this grant is gone.
func (o *oracle) seenGone(h *fact) int64 {
	at := int64(model.Never)
	if e := o.ended(h); e != 0 {
		at = e
	}
	for _, a := range h.attempts {
		if a.notOwned() || a.f == history.Release && (a.acted() || a.outcome == history.OK) {
			at = min(at, a.done)
		}
	}
	return at
}

// certainlyRefused: the acquire neither was granted nor left anything behind.
func (h *fact) certainlyRefused() bool {
	return h.outcome == history.Fail && (h.code == history.CodeBusy || h.code == history.CodeRefused && !h.gaveBack)
}

// inDoubt is R5: an earlier release or cancel of the same client on that lock, in the same or an unknown session, had no
// definite answer when this grant was asked for.
func (o *oracle) inDoubt(g *fact) bool {
	pending := func(from, to int64, definite bool) bool {
		return from < g.done && (!definite || to > g.start())
	}
	for _, f := range o.holds {
		if f == g || f.client != g.client || f.key != g.key || !mayBeOne(f.session, g.session) {
			continue
		}
		if f.outcome != history.OK && !f.certainlyRefused() && pending(f.invoke, f.done, f.outcome == history.Fail) {
			return true
		}
		for _, a := range f.attempts {
			if a.f == history.Release && !a.refused() && pending(a.invoke, a.done, a.answered()) {
				return true
			}
		}
	}
	return false
}

// askedAgain is when the client of a grant next asked for the lock, in the same or an unknown session, while nothing had
// shown that the grant was gone; never if it did not.
func (o *oracle) askedAgain(h *fact) int64 {
	at := int64(model.Never)
	for _, f := range o.holds {
		if f != h && f.client == h.client && f.key == h.key && h.session != "" && mayBeOne(f.session, h.session) &&
			!f.certainlyRefused() && f.invoke >= h.done && o.later(f, h) && o.seenGone(h) > f.invoke {
			at = min(at, f.invoke)
		}
	}
	return at
}

// later: the history has f's invocation after h's.
func (o *oracle) later(f, h *fact) bool { return slices.Index(o.holds, f) > slices.Index(o.holds, h) }

// sharedRelease is when, after this grant was asked for, an earlier one that may be the same record was released; never if
// none was.
func (o *oracle) sharedRelease(h *fact) int64 {
	at := int64(model.Never)
	for _, f := range o.holds {
		if f == h || f.client != h.client || f.key != h.key || f.outcome != history.OK || f.session == "" || !mayBeOne(f.session, h.session) ||
			!o.later(h, f) || o.seenGone(f) <= h.invoke {
			continue
		}
		for _, a := range f.attempts {
			if a.f == history.Release && !a.refused() && a.invoke > h.invoke {
				at = min(at, a.invoke)
			}
		}
	}
	return at
}

// proves is R6: whether the answer shows that the service held the grant until the request was sent. A release that removes any
// record that is there does not.
func (o *oracle) proves(h *fact, a *attemptFact) bool {
	return o.claims(h, a) && (o.plan.Release == history.ReleaseChecked || !o.mayBeAnothers(h, a))
}

// claims: the same, as far as the answer is about this grant.
func (o *oracle) claims(h *fact, a *attemptFact) bool {
	if a.f == history.Release && o.plan.Release == history.ReleaseUnchecked {
		return false
	}
	if !a.acted() || h.outcome != history.OK || o.inDoubt(h) {
		return false
	}
	if o.plan.Release == history.ReleaseChecked {
		return true
	}
	if e := o.ended(h); e != 0 && e <= a.done || o.loss(h) <= a.done {
		return false
	}
	for _, b := range h.attempts {
		if b.notOwned() && b.done <= a.done {
			return false
		}
	}
	return true
}

// mayBeAnothers reports whether the record that an answer speaks of may have been another hold's.
func (o *oracle) mayBeAnothers(h *fact, a *attemptFact) bool {
	for _, g := range o.holds {
		if g != h && g.start() < a.done && o.hadUntil(g) > a.sent() && !slices.ContainsFunc(o.holds, func(f *fact) bool {
			return g.before(f) && f.outcome == history.OK && f.done <= a.sent()
		}) {
			return true
		}
	}
	return false
}

// arrives is until when what a client sent before its end may arrive.
func (o *oracle) arrives(client string, exit int64) int64 {
	until, end := exit, o.events[len(o.events)-1].TimeNS
	for _, f := range o.events {
		if f.Process != history.NemesisProcess || f.Type != history.Invoke || f.Heal || f.TimeNS > exit || f.Target == history.ResourceTarget || f.Target != client && o.isClient(f.Target) {
			continue
		}
		gone := end
		for _, e := range o.events {
			if e.Process == history.NemesisProcess && e.Op == f.Op && e.Heal && e.Type == history.OK {
				gone = e.TimeNS
			}
		}
		until = max(until, gone+gone-f.TimeNS+200e6) // the kernel waits 200 ms at first, and twice as long each time
	}
	return until
}

// hadUntil is until when the record of a hold may be there, if nothing is known of other clients; 0 if it never was.
func (o *oracle) hadUntil(g *fact) int64 {
	until := int64(model.Never)
	switch {
	case g.certainlyRefused():
		return 0
	case g.outcome == history.Fail:
		return g.done
	case g.outcome == history.OK:
		until = o.seenGone(g)
	}
	if exit := o.exits(g.client); exit != 0 {
		until = min(until, o.arrives(g.client, exit)+(max(o.plan.TTLMS, o.plan.EffectiveMS)+o.plan.GraceMS)*1e6)
	}
	return until
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
	for _, a := range h.attempts { // once a release was answered, the session's end is another matter
		if a.f == history.Release && !a.refused() && a.done != 0 && at >= a.done {
			return 0
		}
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
	for _, end := range []int64{o.released(h), o.asksToClose(h.client)} {
		if end != 0 {
			until = min(until, end)
		}
	}
	if until <= h.done {
		return 0
	}
	return until
}
