package model

import (
	"iter"
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// A client that asks for a lock twice under one session may be answered with one record twice, and a request of it that
// has no answer may still delete the record that its session has by then. So nothing may be concluded from a grant alone
// while its own client can have acted on its record (rules R5, R6 and J5):
//
//	acquire ok ····· acquire again              the first grant may end with the second: againNS
//	release: no answer ····· acquire ok         the late delete may remove the new record: clouded
//	acquire ok ··· acquire ok ··· release of the first      it may remove the record of both: stopNS
//
// sharedRecord is what is known of that for one grant.
type sharedRecord struct {
	againNS int64 // its client next asked for the lock, in the same or an unknown session; 0 if never
	stopNS  int64 // an earlier grant that may be the same record was released; 0 if never
	// clouded: an earlier release or given-up acquire of its client had no definite answer when it was asked for.
	clouded bool
}

// ownRequests is what one client has asked for on one lock, as far as it matters to what it asks for later.
type ownRequests struct {
	last    []*Hold            // grants under a session since the client asked last
	left    map[string][]*Hold // earlier ones that were not seen to be gone when it asked again, by session
	reading []*Hold            // grants that were read later than the request that is looked at was sent
	doubts  []doubt            // with an end
	// endless is from when on a request without any definite answer may act, by its session.
	endless    map[string]int64
	endlessAny int64 // the earliest of them
}

// doubt is a request that may delete a record of its session.
type doubt struct {
	hold    *Hold
	session string // "" is unknown
	fromNS  int64
	toNS    int64 // its definite answer; never if there is none
}

// relate goes over the acquires of a lock in the order of their invocations. It keeps, for each client, what has no
// definite answer: mostly nothing.
func (k *Lock) relate() {
	var clients []ownRequests
	for _, h := range k.Acquires {
		for len(clients) <= int(h.ClientNumber) {
			clients = append(clients, ownRequests{})
		}
		clients[h.ClientNumber].take(h)
	}
}

func (o *ownRequests) take(h *Hold) {
	o.asked(h)
	if h.Outcome == history.OK {
		o.granted(h)
	}
	for _, a := range h.Attempts {
		if a.F == history.Release && !a.NeverSent() {
			o.doubt(doubt{h, h.Session, a.InvokeNS, a.definiteNS()})
		}
	}
	switch {
	case h.Outcome == history.Info || h.Outcome == history.Invoke:
		o.doubt(doubt{h, h.Session, h.InvokeNS, Never})
	case h.GaveUp():
		o.doubt(doubt{h, h.Session, h.InvokeNS, h.DoneNS})
	}
}

// asked marks the grants that a new request may be answered with, or take away. One that was certainly refused does
// neither.
func (o *ownRequests) asked(h *Hold) {
	over := func(ns int64) bool { return ns <= h.InvokeNS }
	o.doubts = slices.DeleteFunc(o.doubts, func(d doubt) bool { return over(d.toNS) })
	o.reading = slices.DeleteFunc(o.reading, func(g *Hold) bool { return over(g.DoneNS) })
	for _, g := range o.last {
		if !over(g.GoneNS()) {
			if o.left == nil {
				o.left = map[string][]*Hold{}
			}
			o.left[g.Session] = append(o.left[g.Session], g)
		}
	}
	o.last = o.last[:0]
	if h.Outcome == history.Fail && !h.GaveUp() {
		return
	}
	for g := range o.leftFor(h) {
		if g.DoneNS <= h.InvokeNS && g.shared().againNS == 0 {
			g.extra().shared.againNS = h.InvokeNS
		}
	}
}

// leftFor are the grants whose record a new request may be about. On the way it drops those that are gone, and those
// that nothing more has to be known of: asked for again, and released without a definite answer, which is a doubt.
func (o *ownRequests) leftFor(h *Hold) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		sessions := []string{h.Session}
		if h.Session == "" {
			sessions = slices.Sorted(maps.Keys(o.left))
		}
		for _, session := range sessions {
			left := slices.DeleteFunc(o.left[session], func(g *Hold) bool {
				return g.GoneNS() <= h.InvokeNS || g.shared().againNS != 0 && g.releasedInDoubt(h.InvokeNS)
			})
			if len(left) == 0 {
				delete(o.left, session)
				continue
			}
			o.left[session] = left
			for _, g := range left {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// granted takes a new grant, and looks what earlier requests may do to it.
func (o *ownRequests) granted(h *Hold) {
	cloud := o.endlessFor(h.Session) < h.DoneNS
	for _, d := range o.doubts {
		cloud = cloud || d.touches(h)
	}
	if cloud {
		h.extra().shared.clouded = true
	}
	for g := range o.leftFor(h) {
		if at := g.releasedAfter(h.InvokeNS); at < Never {
			if stop := &h.extra().shared.stopNS; *stop == 0 || at < *stop {
				*stop = at
			}
		}
	}
	if h.Session != "" {
		o.last = append(o.last, h)
	}
	o.reading = append(o.reading, h)
}

// doubt takes a request that may delete a record, also of grants that are read after it was sent.
func (o *ownRequests) doubt(d doubt) {
	for _, g := range o.reading {
		if g != d.hold && d.touches(g) {
			g.extra().shared.clouded = true
		}
	}
	if d.toNS < Never {
		o.doubts = append(o.doubts, d)
		return
	}
	if o.endless == nil {
		o.endless, o.endlessAny = map[string]int64{}, Never
	}
	o.endlessAny = min(o.endlessAny, d.fromNS)
	if at, known := o.endless[d.session]; !known || d.fromNS < at {
		o.endless[d.session] = d.fromNS
	}
}

// endlessFor is from when on a request without any definite answer may delete a record of a session; never if none may.
func (o *ownRequests) endlessFor(session string) int64 {
	if o.endless == nil {
		return Never
	}
	if session == "" {
		return o.endlessAny
	}
	from := int64(Never)
	for _, name := range [2]string{"", session} {
		if at, known := o.endless[name]; known {
			from = min(from, at)
		}
	}
	return from
}

// touches reports whether the request may delete the record of a grant.
func (d doubt) touches(g *Hold) bool {
	return SessionsMayAgree(d.session, g.Session) && d.fromNS < g.DoneNS && d.toNS > g.StartNS()
}

// SessionsMayAgree reports whether two sessions may be one; "" is unknown.
func SessionsMayAgree(a, b string) bool { return a == "" || b == "" || a == b }

// NeverSent reports whether the request certainly did not leave the client, so that it can have done nothing.
func (a *Attempt) NeverSent() bool {
	return a.Outcome == history.Fail && a.Code == history.CodeRefused
}

// definiteNS is when it was known what came of the request; never if it is not.
func (a *Attempt) definiteNS() int64 {
	if a.Outcome == history.OK || a.Outcome == history.Fail {
		return a.DoneNS
	}
	return Never
}

// releasedAfter is when, after a moment, a release of the hold was first invoked that may have been sent; never if none
// was.
func (h *Hold) releasedAfter(ns int64) int64 {
	for _, a := range h.Attempts {
		if a.F == history.Release && !a.NeverSent() && a.InvokeNS > ns {
			return a.InvokeNS
		}
	}
	return Never
}

// GivenBackNS is when a release of the hold was first invoked that may have been sent; never if none was. One that was
// certainly never sent gave nothing back.
func (h *Hold) GivenBackNS() int64 { return h.releasedAfter(-1) }

// answeredNS is when a release of the hold that may have been sent was first answered; never if none was.
func (h *Hold) answeredNS() int64 {
	at := int64(Never)
	for _, a := range h.Attempts {
		if a.F == history.Release && !a.NeverSent() && a.DoneNS != 0 {
			at = min(at, a.DoneNS)
		}
	}
	return at
}

// releasedInDoubt reports whether a release that was invoked by then never had a definite answer.
func (h *Hold) releasedInDoubt(ns int64) bool {
	return slices.ContainsFunc(h.Attempts, func(a *Attempt) bool {
		return a.F == history.Release && a.InvokeNS <= ns && a.definiteNS() == Never
	})
}

// shared is what other requests of the hold's own client may have done to its record.
func (h *Hold) shared() sharedRecord {
	if h.more == nil {
		return sharedRecord{}
	}
	return h.more.shared
}

// SameRecord reports whether g, asked for after h had been granted, may have been answered with the record of h: to the
// same session, which had not been seen to lose h. Grants with different tokens are different records.
func SameRecord(h, g *Hold) bool {
	return h.Session != "" && h.Session == g.Session && h.GoneNS() > g.StartNS() && (h.Token == "" || g.Token == "" || CompareTokens(h.Token, g.Token) == 0)
}

// MayShareRecord is SameRecord for two holds of which neither was certainly asked for after the other had been granted.
func MayShareRecord(a, b *Hold) bool { return SameRecord(a, b) || SameRecord(b, a) }
