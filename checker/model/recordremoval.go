package model

import (
	"cmp"
	"regexp"
	"slices"

	"lockcheck/checker/history"
)

// Removal is a release that removed a record which cannot have been its own hold's (rule J5): it says that it removed one, its
// deleting request was sent after another grant had been read that was certainly made later than its own, its own hold was
// not protected any more, and its client does not compare and delete in one step. What a library tidies up by itself, before it tells
// its user of a loss, counts like a release that was asked for.
type Removal struct {
	Hold    *Hold
	Attempt *Attempt
	Unasked bool
	SentNS  int64 // the request that deletes was sent no earlier
	Kind    history.ReleaseKind
	// LeaseOver: its own lease, as acknowledged, had run out by then.
	LeaseOver bool
	Claims    bool // its own grant was protected; its record may have been removed before
}

// removals names, for each of a key's grants that were lost early, the release of another hold that removed it, where
// that is proven: the first that was sent after the grant had been read, and before the loss was seen. What else was
// pending at the time proves nothing. A client that compares before it deletes is never named; nor is one whose own grant
// may have been made after the lost one, because the record that it removed is then its own, even if its lease is known to have
// ended.
//
// What a take-over names was there until its request was sent: no release that was answered before had removed it.
func (m *Model) removals(k *Lock, lost []EarlyLoss, takeOvers map[string][]*TakeOver) {
	if len(lost) == 0 || m.Looks() {
		return
	}
	all, suspects := m.releasesOfOthers(k)
	slowest := int64(0)
	for i := range suspects {
		slowest = max(slowest, suspects[i].Attempt.DoneNS-suspects[i].SentNS)
	}
	for i := range lost {
		p := &lost[i]
		if p.Taken != nil {
			continue
		}
		from, _ := slices.BinarySearchFunc(all, p.Hold.DoneNS+1, func(r Removal, ns int64) int { return cmp.Compare(r.SentNS, ns) })
		for at := from; at < len(all) && all[at].SentNS < p.AtNS && p.Removed == nil; at++ {
			r := &all[at]
			switch {
			case !m.CertainlyLater(k, r.Hold, p.Hold):
			case slices.ContainsFunc(takeOvers[p.Hold.Session], func(t *TakeOver) bool {
				return t.SentNS >= r.Attempt.DoneNS && !k.leftAnother(p.Hold, t.DoneNS)
			}):
			case m.provenOf(k, r, p.Hold):
				p.Removed = r
			case p.Perhaps == nil:
				p.Perhaps = r
			}
		}
		// One that was on its way when the grant was read may have come after it was made, and proves nothing.
		latest, _ := slices.BinarySearchFunc(suspects, p.AtNS, func(r Removal, ns int64) int { return cmp.Compare(r.SentNS, ns) })
		for at := latest - 1; at >= 0 && suspects[at].SentNS+slowest > p.Hold.StartNS() && !p.ByAnother() && p.Perhaps == nil; at-- {
			if r := &suspects[at]; r.mayBeOf(p.Hold, p.AtNS) {
				p.Perhaps = r
			}
		}
	}
}

// releasesOfOthers are, in order, the releases on a lock that say that they removed a record: those of holds that had no claim any more, and
// all that may have removed another's.
func (m *Model) releasesOfOthers(k *Lock) (all, suspects []Removal) {
	var owning []Removal // of holds that seemed to have a claim
	for _, h := range k.Grants {
		for _, a := range h.Attempts {
			switch r, ok := m.removalBy(h, a); {
			case ok:
				all = append(all, r)
			case r.Attempt != nil:
				owning = append(owning, r)
			}
		}
		if a := h.Cleanup(); a != nil {
			if r, ok := m.removalBy(h, a); ok {
				r.Unasked = true
				all = append(all, r)
			}
		}
	}
	SortInOrder(all, func(a, b Removal) int { return cmp.Compare(a.SentNS, b.SentNS) })
	return all, mayOweAnother(all, owning)
}

// mayOweAnother are, in order, the releases that may have removed another's record: those of holds that had no claim any more, and those
// whose own record one of these may have removed before.
func mayOweAnother(all, owning []Removal) []Removal {
	latest := make([]int64, len(all)) // up to each: when the last of them was answered
	for i := range all {
		latest[i] = all[i].Attempt.DoneNS
		if i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	suspects := slices.Clone(all)
	for _, r := range owning {
		before, _ := slices.BinarySearchFunc(all, r.Attempt.DoneNS, func(q Removal, ns int64) int { return cmp.Compare(q.SentNS, ns) })
		if before > 0 && latest[before-1] > r.Hold.StartNS() {
			r.Claims = true
			suspects = append(suspects, r)
		}
	}
	SortInOrder(suspects, func(a, b Removal) int { return cmp.Compare(a.SentNS, b.SentNS) })
	return suspects
}

// provenOf reports whether what a release removed can only have been the record of a lost grant: a server that has no other record, and
// nothing else that can have been there. Of a client that does not declare how it releases it has to be one server that served both.
func (m *Model) provenOf(k *Lock, r *Removal, lost *Hold) bool {
	from := lost.StartNS()
	if r.Kind == "" {
		if !m.oneServer() {
			return false
		}
		from = r.Hold.StartNS()
	}
	return !m.MayHaveTwo(from, r.Attempt.DoneNS) && !slices.ContainsFunc(k.Acquires, func(h *Hold) bool {
		return h != lost && h != r.Hold && m.mayHaveHad(h, lost, r)
	})
}

// mayHaveHad reports whether another hold may have had a record when a release removed one, after the service had lost the grant that is
// said to have been removed: its winning request may have come before the delete was answered, and its record may still have been there.
func (m *Model) mayHaveHad(h, lost *Hold, r *Removal) bool {
	return h.StartNS() < r.Attempt.DoneNS && !h.FollowedBy(lost) && m.recordUntil(h) > r.SentNS
}

// recordUntil is until when the record of a hold may be there, as far as its own answers and its client's end tell; 0 if it never was.
func (m *Model) recordUntil(h *Hold) int64 {
	until := int64(Never)
	switch {
	case h.GaveUp():
		return h.DoneNS
	case h.Outcome == history.Fail:
		return 0
	case h.Outcome == history.OK:
		until = h.GoneNS()
	}
	if sent := m.Clients[h.Client].sentUntilNS; sent != 0 {
		until = min(until, sent+(max(m.Plan.TTLMS, m.Plan.EffectiveMS)+m.Plan.GraceMS)*1e6)
	}
	return until
}

// firstResend is when a kernel sends an unacknowledged segment again for the first time; each further time it waits twice as long (RFC 6298).
const firstResend = 200e6

// sentUntil is until when what a client sent may arrive; 0 if it has not ended. The kernel sends again what a dead process has left in its
// sockets: where packets were held back before it died, as long again after that as they were, because it waits twice as long each time.
func (m *Model) sentUntil(c *Client) int64 {
	until := c.ExitNS
	for _, f := range m.Faults {
		if c.ExitNS != 0 && f.Target != history.ResourceTarget && (f.Target == c.Name || !m.OfClient(f)) && f.BeginNS <= c.ExitNS {
			gone := f.touchedUntil(m)
			until = max(until, gone+gone-f.BeginNS+firstResend)
		}
	}
	return until
}

// oneServer reports whether a single server is known to have served all requests.
func (m *Model) oneServer() bool { return m.Plan.Nodes == 1 && m.Plan.Attached == nil }

// MayHaveTwo reports whether the service may have had two records of one lock, or one that had been gone, at some time of a stretch: a
// server that was disturbed in it may have brought one back, and of several two may serve at once for long after a fault.
func (m *Model) MayHaveTwo(fromNS, toNS int64) bool {
	if !m.oneServer() {
		fromNS = 0
	}
	return Touched(m.serviceDisturbed, fromNS, toNS) || !m.oneServer() && slices.ContainsFunc(m.Faults, func(f *Fault) bool {
		return f.Name == history.PartitionFault && f.BeginNS <= toNS && !onlyFromResource.MatchString(f.Detail)
	})
}

// onlyFromResource matches what is read back of a partition that keeps a client from the resource and from no server.
var onlyFromResource = regexp.MustCompile(`\b(from|to) ` + history.ResourceTarget + `$`)

// removalBy reports whether a release says that it removed a record which its own hold had no claim to any more, whichever that was.
func (m *Model) removalBy(h *Hold, a *Attempt) (r Removal, ok bool) {
	if a.F != history.Release || !a.RemovedRecord() {
		return r, false
	}
	r = Removal{Hold: h, Attempt: a, SentNS: a.SentNS(), Kind: m.Plan.Release}
	if lease := m.leaseEnd(h); lease != 0 {
		r.LeaseOver = lease <= r.SentNS
	}
	return r, m.protectedWithout(h, a) <= r.SentNS
}

// protectedWithout is until when a hold was protected, as far as that was known when one of its releases was sent, which
// itself does not count.
func (m *Model) protectedWithout(h *Hold, release *Attempt) int64 {
	until := min(m.leaseEnd(h), m.ProtectionStop(h, release))
	if h.LostNS != 0 && h.LostNS <= release.SentNS() {
		until = min(until, LossStop(h))
	}
	for _, ns := range [2]int64{h.EndedNS, h.LossNS} {
		if ns != 0 && ns <= release.SentNS() {
			until = min(until, ns)
		}
	}
	return until
}

// RemovedBefore is the lost grant of a hold whose record a release or a take-over is proven to have removed, by a request sent before a
// moment; nil if none is. As far as a recording goes on nothing is: what is recorded later may excuse the release.
func (m *Model) RemovedBefore(h *Hold, ns int64) *EarlyLoss {
	if m.GoesOn {
		return nil
	}
	found := m.EarlyLosses().Found
	for i := range found {
		if p := &found[i]; p.Hold == h && (p.Removed != nil && p.Removed.SentNS < ns || p.Taken != nil && p.Taken.SentNS < ns) {
			return p
		}
	}
	return nil
}

// PerhapsRemovedBefore is the last release of another client that may have removed the record of a grant, by a request sent before a moment;
// nil if none is known.
func (m *Model) PerhapsRemovedBefore(h *Hold, ns int64) *Removal {
	if m.GoesOn || m.Looks() {
		return nil
	}
	_, suspects := m.releasesOfOthers(m.KeyNamed(h.Key))
	for i := range slices.Backward(suspects) {
		if r := &suspects[i]; r.mayBeOf(h, ns) {
			return r
		}
	}
	return nil
}

// mayBeOf reports whether the record that the release removed before a moment may have been that of another hold.
func (r *Removal) mayBeOf(h *Hold, ns int64) bool {
	return r.Attempt.DoneNS > h.StartNS() && r.SentNS < ns && r.Hold != h && !h.FollowedBy(r.Hold)
}

// TakeOver is the removal of the record of another's grant by a client that acquires: a take-over, or what a reaper does. The service's answer
// said whose record it was.
type TakeOver struct {
	Hold    *Hold  // under which it acquired
	Session string // whose record it was
	SentNS  int64  // the request was sent no earlier
	DoneNS  int64  // the answer had been read
	Event   int64
}

// takeOvers are those of a lock, by the session whose record was removed.
func (k *Lock) takeOvers() (of map[string][]*TakeOver) {
	for _, h := range k.Acquires {
		if h.more == nil {
			continue
		}
		for i := range h.more.takeOvers {
			if of == nil {
				of = map[string][]*TakeOver{}
			}
			t := &h.more.takeOvers[i]
			of[t.Session] = append(of[t.Session], t)
		}
	}
	return of
}

// takenOver is the take-over that is proven to have removed the record of a protected grant, of those that were read by a moment (J5): the
// request was sent after the grant had been read, and answered before its protection ended, and the session has left no other record.
// A service that may have had the record twice proves nothing: what was removed may have been what no lease protected.
func (m *Model) takenOver(k *Lock, all []*TakeOver, h *Hold, byNS int64) (first *TakeOver) {
	for _, t := range all {
		if t.Hold.Client != h.Client && h.ClaimedNS <= t.DoneNS && t.SentNS > h.DoneNS && t.DoneNS < h.LeaseNS && t.DoneNS <= byNS &&
			(first == nil || t.DoneNS < first.DoneNS) && !m.MayHaveTwo(h.StartNS(), t.DoneNS) && !k.leftAnother(h, t.DoneNS) {
			first = t
		}
	}
	return first
}

// leftAnother reports whether the session of a hold may have left another record by a moment: a second grant that is not known to have been
// given back. What is over may lie about until somebody removes it.
func (k *Lock) leftAnother(h *Hold, ns int64) bool {
	return slices.ContainsFunc(k.Acquires, func(g *Hold) bool {
		return g != h && g.ClientNumber == h.ClientNumber && g.InvokeNS < ns && SessionsMayAgree(g.Session, h.Session) && g.Outcome != history.Fail &&
			!slices.ContainsFunc(g.Attempts, func(a *Attempt) bool { return a.F == history.Release && a.Acted() })
	})
}
