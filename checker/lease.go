package checker

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"lockcheck/checker/history"
)

// never is the end of what has no known end.
const never = math.MaxInt64

// settle derives from the whole history what no single event says: which faults were over when they were seen, how long each hold was
// believed in (R4), protected (R5) and proven (R6).
func (m *Model) settle() {
	m.Stalls, m.serviceDisturbed = merged(m.Stalls), m.serviceFaults()
	for _, f := range m.Faults {
		f.Momentary = f.Restarted || f.EffectiveNS != 0 && (f.words().OfService || f.Name == history.KillFault && m.ofClient(f))
	}
	m.acknowledge()
	for _, h := range m.Holds {
		m.settleEnds(h)
		m.settleBelief(h)
	}
	for _, k := range m.keys {
		k.relate()
		k.losses()
	}
	for _, h := range m.Holds {
		h.ProvenNS = m.provenUntil(h)
		h.LeaseNS = min(m.leaseEnd(h), m.protectionStop(h, nil), lossStop(h))
		if h.LeaseNS <= h.DoneNS {
			h.LeaseNS = 0
		}
	}
}

// settleEnds gives a hold the ends of its session and of its client.
func (m *Model) settleEnds(h *Hold) {
	if s := m.Sessions[h.Session]; s != nil {
		if s.EndedNS != 0 && (h.EndedNS == 0 || s.EndedNS < h.EndedNS) {
			h.EndedNS = s.EndedNS
		}
		if s.LostNS != 0 {
			if h.LostNS == 0 && s.LostNS < h.answeredNS() { // what its client tidies up may come before the answer
				h.LostNS = s.LostNS
			}
			h.Voided = h.Voided || s.LostNS <= h.DoneNS // equal stamps prove no order: not counted
		}
	}
	if c := m.Clients[h.Client]; c.ExitNS != 0 && (h.releaseDoneNS() == 0 || h.releaseDoneNS() > c.ExitNS) {
		h.ExitNS = c.ExitNS
	}
}

// settleBelief caps what was confirmed (R4): never later than the release's invocation, nor than the asking to close.
func (m *Model) settleBelief(h *Hold) {
	if h.Outcome != history.OK || h.Voided {
		h.BelievedNS = 0
		return
	}
	for _, latest := range []int64{h.ReleaseNS, m.Clients[h.Client].CloseNS} {
		if latest != 0 {
			h.BelievedNS = min(h.BelievedNS, latest)
		}
	}
	if h.BelievedNS <= h.DoneNS {
		h.BelievedNS = 0
	}
}

// leaseEnd is when the acknowledged lease of a grant can have run out at the earliest, were nothing to stop it.
func (m *Model) leaseEnd(h *Hold) int64 {
	if !m.Plan.SameKernel || h.Outcome != history.OK {
		return 0 // R10: the server's clock is another one
	}
	end := int64(0)
	m.eachLeaseOf(h, func(l acknowledged) {
		if n := l.countFor(h, m.looks()); n > 0 {
			end = max(end, l.reach[n-1])
		}
	})
	return end
}

// acknowledged are the requests for one lease, in the order of their acknowledgements.
type acknowledged struct {
	leases []Lease
	reach  []int64 // until when the lease runs at least, as acknowledged up to each
	gaps   []int   // those that were acknowledged when the lease, as acknowledged before, may have been over
}

// acknowledge orders the leases of each session.
func (m *Model) acknowledge() {
	for _, s := range m.Sessions {
		s.acknowledged = m.acknowledged(s.Leases)
	}
}

func (m *Model) acknowledged(leases []Lease) (a acknowledged) {
	a.leases, a.reach = leases, make([]int64, len(leases))
	end := int64(0)
	for i, l := range leases {
		if l.TimeNS > end {
			a.gaps = append(a.gaps, i)
		}
		end = max(end, m.leaseUntil(l))
		a.reach[i] = end
	}
	return a
}

// leasesOf are the leases that were reported of a hold; where there are none, those of its session.
func (m *Model) leasesOf(h *Hold) []Lease {
	if own := h.Leases(); len(own) > 0 {
		return own
	}
	if s := m.Sessions[h.Session]; s != nil {
		return s.Leases
	}
	return nil
}

// eachLeaseOf calls take with the leases that a hold has: its own, and its session's.
func (m *Model) eachLeaseOf(h *Hold, take func(acknowledged)) {
	if own := h.Leases(); len(own) > 0 {
		take(m.acknowledged(own))
	}
	if s := m.Sessions[h.Session]; s != nil && len(s.Leases) > 0 {
		take(s.acknowledged)
	}
}

// countFor is how many of the acknowledgements are about a grant (R5). The first that came when its lease may have been over is not, and
// none after it: the record may have been lost, and what was extended may be another's. Unless the grant is proven to have lasted until
// that request was sent, or the client declares that it looks whose record it extends and had no reason to think that it is another grant's,
// or the lease is new, asked for with the grant and acknowledged after it. Nor is one that came after the grant's proven loss.
func (a *acknowledged) countFor(h *Hold, checked bool) int {
	by := func(ns int64) int {
		return sort.Search(len(a.leases), func(i int) bool { return a.leases[i].TimeNS > ns })
	}
	end := len(a.leases)
	next, _ := slices.BinarySearch(a.gaps, by(h.DoneNS))
	for _, at := range a.gaps[next:] {
		own := checked && a.leases[at].TimeNS <= h.oneUntilNS()
		if seen := a.leases[at].SeenNS; !own && seen > h.ProvenNS && (at > 0 || seen > h.DoneNS) {
			end = at
			break
		}
	}
	if h.lossNS != 0 {
		end = min(end, by(h.lossNS))
	}
	return end
}

// oneUntilNS is until when what is said of a hold's session is about its own record, if the session has one at all: it was not given back, not
// said to be gone, and the session did not ask again.
func (h *Hold) oneUntilNS() int64 {
	until := min(h.goneNS(), h.givenBackNS())
	if again := h.shared().againNS; again != 0 {
		until = min(until, again)
	}
	return until
}

// losses finds for each grant by when it is proven to have been lost: another client's, certainly asked for after it had been read, was
// granted. The service's own word is saidGoneNS.
func (k *keyView) losses() {
	others := make([]int, len(k.grants)) // the first grant after each that is another client's
	for i := len(k.grants) - 1; i >= 0; i-- {
		if others[i] = i + 1; i+1 < len(k.grants) && k.grants[i+1].client == k.grants[i].client {
			others[i] = others[i+1]
		}
	}
	for i, h := range k.grants {
		for n := others[i]; n < len(k.grants); n++ {
			if g := k.grants[n]; g.client == h.client {
				n = others[n] - 1
			} else if h.followedBy(g) {
				h.lossNS = g.DoneNS
				break
			}
		}
	}
}

// leaseUntil is stamp(seen) + TTL less the allowed drift. A stall ends the promise where it begins: what let the machine stand
// still (a suspended host, a stopped virtual machine) may have moved the clocks that the harness and the server compare time
// with by different amounts, so nothing after it may be held against the server (R10).
//
// A wall clock that was set forward while the lease ran takes off as much as it was set by, and no more: a server that
// counts by the wall clock ends the lease that much earlier, one that counts by a monotonic clock not at all, and neither
// before the clock was set. One that was set back makes no lease shorter.
func (m *Model) leaseUntil(l Lease) int64 {
	until := l.SeenNS + l.TTLNS - m.Plan.DriftMS*1e6
	for _, s := range m.Steps[firstAfter(m.Steps, l.SeenNS, func(s ClockStep) int64 { return s.ToNS }):] {
		if s.FromNS >= until {
			break
		}
		if s.ByNS > 0 {
			until = max(s.FromNS, until-s.ByNS)
		}
	}
	if at := firstAfter(m.Stalls, l.SeenNS, func(s Span) int64 { return s.ToNS }); at < len(m.Stalls) {
		until = min(until, m.Stalls[at].FromNS)
	}
	return until
}

// firstAfter is the place of the first of some things, in the order of their ends, that ends at a time or after it.
func firstAfter[T any](things []T, ns int64, end func(T) int64) int {
	at, _ := slices.BinarySearchFunc(things, ns, func(t T, ns int64) int {
		if end(t) < ns {
			return -1
		}
		return 1
	})
	return at
}

// protectionStop is when the service may take the grant back although its lease runs: any invoked release that may have
// been sent (with any outcome), one of another hold that may be the same record, the asking to close, the end of the
// client. A client that ends by itself may tidy up on its way out at any time after it last confirmed its hold, so without a request to
// close the protection stops there. Where there was one its end may have come before it, and is read after it: it may have happened at any
// time after its last sign of life. The release except does not count: its own "not owned" proves
// that it did nothing. 0 if a request of the same client may have removed the record at any time (clouded).
func (m *Model) protectionStop(h *Hold, except *Attempt) int64 {
	shared := h.shared()
	if shared.clouded {
		return 0
	}
	stop := int64(never)
	for _, a := range h.Attempts {
		if a.F == history.Release && a != except && !a.neverSent() {
			stop = a.InvokeNS
			break
		}
	}
	for _, ns := range [2]int64{shared.againNS, shared.stopNS} {
		if ns != 0 {
			stop = min(stop, ns)
		}
	}
	c := m.Clients[h.Client]
	switch {
	case c.CloseNS != 0 && c.ExitNS != 0:
		stop = min(stop, c.CloseNS, max(c.aliveNS, h.BelievedNS, h.DoneNS))
	case c.CloseNS != 0:
		stop = min(stop, c.CloseNS)
	case c.ExitNS != 0:
		stop = min(stop, c.ExitNS, max(h.BelievedNS, h.DoneNS))
	}
	return stop
}

// lossStop is where the loss signal ends the protection: a client that was told tidies up (an etcd session that ended is
// closed, which revokes what is left of its lease), at any time after it last confirmed its hold.
func lossStop(h *Hold) int64 {
	if h.LostNS == 0 {
		return never
	}
	return max(h.BelievedNS, h.DoneNS)
}

// ownProtection is how long a definite answer about h, read at atNS, counts as evidence of an early loss. An answer that
// the client passed on before its loss signal cannot come from what it tidied up after it.
func (m *Model) ownProtection(h *Hold, except *Attempt, atNS int64) int64 {
	until := min(m.leaseEnd(h), m.protectionStop(h, except))
	if h.LostNS != 0 && atNS > h.LostNS {
		until = min(until, lossStop(h))
	}
	return until
}

// provenUntil is R6: a request that acted on this grant's own record shows that the service held the grant until that
// request was sent. 0 if nothing is proven.
//
// A client that does not look whose record it acts on may say so of another's. That it says so after the service had said
// that its own record is gone, or after another client was certainly granted the lock, shows that it does, unless it declares that it looks. Where its own requests may have removed and made records (clouded) the
// answers prove nothing of the time between them; from where it asked again, nothing of this grant alone.
func (m *Model) provenUntil(h *Hold) int64 {
	shared := h.shared()
	if h.Outcome != history.OK || shared.clouded {
		return 0
	}
	gone := int64(never)
	if !m.looks() {
		if gone = h.saidGoneNS(); h.lossNS != 0 {
			gone = min(gone, h.lossNS)
		}
	}
	proven := int64(0)
	for _, a := range h.Attempts {
		if m.ownRecord(a) && a.DoneNS < gone && a.SentNS() >= h.DoneNS { // equal: held at that moment, at least
			proven = max(proven, a.SentNS())
		}
	}
	if shared.againNS != 0 && proven > shared.againNS {
		proven = shared.againNS // the first grant may have ended as soon as the next was asked for
	}
	return proven
}

// looks reports whether clients declare that they look whose record they release or extend.
func (m *Model) looks() bool { return m.Plan.Release == history.ReleaseChecked }

// ownRecord reports whether an answer shows that the service had this grant's own record. A release that removes any record, by
// its client's own declaration, shows only that something was there: the same answer proves that it removed another's (see
// removals), and cannot prove both.
func (m *Model) ownRecord(a *Attempt) bool {
	return a.Acted() && !(a.F == history.Release && m.Plan.Release == history.ReleaseUnchecked)
}

// saidGoneNS is when the service had first said that a hold's record, or its session, is not there; never if it did not.
func (h *Hold) saidGoneNS() int64 {
	return h.endedOr((*Attempt).NotOwned)
}

// endedOr is when the service had first said that a hold's session is over, or had given an answer of a kind; never if neither.
func (h *Hold) endedOr(kind func(*Attempt) bool) int64 {
	at := int64(never)
	if h.EndedNS != 0 {
		at = h.EndedNS
	}
	for _, a := range h.Attempts {
		if kind(a) {
			at = min(at, a.DoneNS)
		}
	}
	return at
}

// merged sorts spans and joins those that touch.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.FromNS, b.FromNS) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.FromNS <= out[n-1].ToNS {
			out[n-1].ToNS = max(out[n-1].ToNS, s.ToNS)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// within is how much of [from, to] the spans, merged, cover.
func within(spans []Span, from, to int64) int64 {
	sum := int64(0)
	for _, s := range endingAfter(spans, from) {
		if s.FromNS >= to {
			break
		}
		if part := min(s.ToNS, to) - max(s.FromNS, from); part > 0 {
			sum += part
		}
	}
	return sum
}
