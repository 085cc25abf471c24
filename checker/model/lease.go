package model

import (
	"slices"
	"sort"

	"lockcheck/checker/history"
)

// leaseEnd is when the acknowledged lease of a grant can have run out at the earliest, were nothing to stop it.
func (m *Model) leaseEnd(h *Hold) int64 {
	if !m.Plan.SameKernel || h.Outcome != history.OK {
		return 0 // R10: the server's clock is another one
	}
	end := int64(0)
	m.eachLeaseOf(h, func(l acknowledged) {
		if n := l.countFor(h, m.Looks()); n > 0 {
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
		end = max(end, m.LeaseUntil(l))
		a.reach[i] = end
	}
	return a
}

// LeasesOf are the leases that were reported of a hold; where there are none, those of its session.
func (m *Model) LeasesOf(h *Hold) []Lease {
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
	if h.LossNS != 0 {
		end = min(end, by(h.LossNS))
	}
	return end
}

// oneUntilNS is until when what is said of a hold's session is about its own record, if the session has one at all: it was not given back, not
// said to be gone, and the session did not ask again.
func (h *Hold) oneUntilNS() int64 {
	until := min(h.GoneNS(), h.GivenBackNS())
	if again := h.shared().againNS; again != 0 {
		until = min(until, again)
	}
	return until
}

// losses finds for each grant by when it is proven to have been lost: another client's, certainly asked for after it had been read, was
// granted. The service's own word is saidGoneNS.
func (k *Lock) losses() {
	others := make([]int, len(k.Grants)) // the first grant after each that is another client's
	for i := len(k.Grants) - 1; i >= 0; i-- {
		if others[i] = i + 1; i+1 < len(k.Grants) && k.Grants[i+1].ClientNumber == k.Grants[i].ClientNumber {
			others[i] = others[i+1]
		}
	}
	for i, h := range k.Grants {
		for n := others[i]; n < len(k.Grants); n++ {
			if g := k.Grants[n]; g.ClientNumber == h.ClientNumber {
				n = others[n] - 1
			} else if h.FollowedBy(g) {
				h.LossNS = g.DoneNS
				break
			}
		}
	}
}

// LeaseUntil is stamp(seen) + TTL less the allowed drift. A stall ends the promise where it begins: what let the machine stand
// still (a suspended host, a stopped virtual machine) may have moved the clocks that the harness and the server compare time
// with by different amounts, so nothing after it may be held against the server (rule R10).
//
// A wall clock that was set forward while the lease ran takes off as much as it was set by, and no more: a server that
// counts by the wall clock ends the lease that much earlier, one that counts by a monotonic clock not at all, and neither
// before the clock was set. One that was set back makes no lease shorter.
func (m *Model) LeaseUntil(l Lease) int64 {
	until := l.SeenNS + l.TTLNS - m.Plan.DriftMS*1e6
	for _, s := range m.Steps[FirstAfter(m.Steps, l.SeenNS, func(s ClockStep) int64 { return s.ToNS }):] {
		if s.FromNS >= until {
			break
		}
		if s.ByNS > 0 {
			until = max(s.FromNS, until-s.ByNS)
		}
	}
	if at := FirstAfter(m.Stalls, l.SeenNS, func(s Span) int64 { return s.ToNS }); at < len(m.Stalls) {
		until = min(until, m.Stalls[at].FromNS)
	}
	return until
}

// ProtectionStop is when the service may take the grant back although its lease runs: any invoked release that may have
// been sent (with any outcome), one of another hold that may be the same record, the asking to close, the end of the
// client. A client that ends by itself may tidy up on its way out at any time after it last confirmed its hold, so without a request to
// close the protection stops there. Where there was one its end may have come before it, and is read after it: it may have happened at any
// time after its last sign of life. The release except does not count: its own "not owned" proves
// that it did nothing. 0 if a request of the same client may have removed the record at any time (clouded).
func (m *Model) ProtectionStop(h *Hold, except *Attempt) int64 {
	shared := h.shared()
	if shared.clouded {
		return 0
	}
	stop := int64(Never)
	for _, a := range h.Attempts {
		if a.F == history.Release && a != except && !a.NeverSent() {
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

// LossStop is where the loss signal ends the protection: a client that was told tidies up (an etcd session that ended is
// closed, which revokes what is left of its lease), at any time after it last confirmed its hold. One whose library tidied up before it
// told believed on meanwhile.
func LossStop(h *Hold) int64 {
	if h.LostNS == 0 {
		return Never
	}
	return min(max(h.BelievedNS, h.DoneNS), h.tidiedBefore())
}

// tidiedBefore is from when on the library of a hold may have removed its record before it told of the loss; never if it did not.
func (h *Hold) tidiedBefore() int64 {
	if h.more == nil || h.more.tidiedNS == 0 {
		return Never
	}
	return h.more.tidiedNS
}

// ownProtection is how long a definite answer about h, read at atNS, counts as evidence of an early loss. An answer that
// the client passed on before its loss signal cannot come from what it tidied up after it, but from what its library tidied up before.
func (m *Model) ownProtection(h *Hold, except *Attempt, atNS int64) int64 {
	until := min(m.leaseEnd(h), m.ProtectionStop(h, except), h.tidiedBefore())
	if h.LostNS != 0 && atNS > h.LostNS {
		until = min(until, LossStop(h))
	}
	return until
}

// provenUntil is R6: a request that acted on this grant's own record shows that the service held the grant until that
// request was sent. 0 if nothing is proven.
//
// A client that does not look whose record it acts on may say so of another's: unless it declares that it looks, of each that another hold
// may have had then, and of any after the service had said that its own is gone, or another client was certainly granted the lock. Where its
// own requests may have removed and made records (clouded) the answers prove nothing of the time between them; from where it asked again,
// nothing of this grant alone.
func (m *Model) provenUntil(h *Hold, others rivals) int64 {
	shared := h.shared()
	if h.Outcome != history.OK || shared.clouded {
		return 0
	}
	gone := int64(Never)
	if !m.Looks() {
		if gone = h.saidGoneNS(); h.LossNS != 0 {
			gone = min(gone, h.LossNS)
		}
	}
	proven := int64(0)
	for _, a := range h.Attempts {
		if m.OwnRecord(a) && a.DoneNS < gone && a.SentNS() >= h.DoneNS && !others.mayHaveHad(h, a) { // equal: held at that moment, at least
			proven = max(proven, a.SentNS())
		}
	}
	if shared.againNS != 0 && proven > shared.againNS {
		proven = shared.againNS // the first grant may have ended as soon as the next was asked for
	}
	return proven
}

// Looks reports whether clients declare that they look whose record they release or extend.
func (m *Model) Looks() bool { return m.Plan.Release == history.ReleaseChecked }

// OwnRecord reports whether an answer shows that the service had this grant's own record. A release that removes any record, by
// its client's own declaration, shows only that something was there: the same answer proves that it removed another's (see
// removals), and cannot prove both.
func (m *Model) OwnRecord(a *Attempt) bool {
	return a.Acted() && !(a.F == history.Release && m.Plan.Release == history.ReleaseUnchecked)
}

// OutlivesLease reports whether a fault lasted past the end of a hold's lease. A client that is only hampered may have given its lock back
// before that.
func (m *Model) OutlivesLease(f *Fault, h *Hold) bool {
	over := f.OverNS(m.EndNS)
	_, latest := m.LeaseAt(h, over)
	if latest == 0 || over <= latest {
		return false
	}
	return h.GivenBackNS() >= latest || !m.Hampers(f, h)
}

// ExtendedUnder reports whether a request for a hold's lease that was sent while a fault was in effect was acknowledged in time: while it
// was, and before the lease that it brought was over.
func (m *Model) ExtendedUnder(f *Fault, h *Hold) bool {
	inTime := func(l Lease) bool {
		return l.SeenNS >= f.EffectiveNS && l.TimeNS <= min(f.OverNS(m.EndNS), l.SeenNS+l.TTLNS)
	}
	s := m.Sessions[h.Session]
	return slices.ContainsFunc(h.Leases(), inTime) || s != nil && slices.ContainsFunc(s.Leases, inTime)
}

// LeaseAt is when the lease of a hold, as acknowledged up to t, can have run out at the earliest and at the latest; zeros
// if none was.
func (m *Model) LeaseAt(h *Hold, t int64) (earliest, latest int64) {
	m.eachLeaseOf(h, func(a acknowledged) {
		for _, l := range a.leases[:a.countFor(h, m.Looks())] {
			if l.TimeNS > t {
				break
			}
			earliest, latest = max(earliest, l.SeenNS+l.TTLNS-m.Plan.DriftMS*1e6), max(latest, l.TimeNS+l.TTLNS+m.Plan.GraceMS*1e6)
		}
	})
	return earliest, latest
}
