package model

import (
	"cmp"
	"fmt"
	"sort"
)

// EarlyLoss is a grant that was lost before its acknowledged lease could have run out (rule J5).
type EarlyLoss struct {
	Key     string
	Hold    *Hold
	UntilNS int64    // it was protected until here
	AtNS    int64    // it was gone by here
	By      *Hold    // another client's grant that proves it; nil if the service said so itself
	Answer  string   // the service's own, in words; "" if by proves it
	Removed *Removal // the release of another hold that is proven to have removed it; nil if none is
	Perhaps *Removal // one that may have, where none is proven to
	// Taken is the other acquire that is proven to have removed it; nil if none is.
	Taken *TakeOver
}

// EarlyLosses are all grants that were lost early, and how many were protected by a lease at all.
type EarlyLosses struct {
	Found         []EarlyLoss
	protected     int
	NotApplicable string
}

// ByAnother reports whether it is proven which other hold's client removed it.
func (p *EarlyLoss) ByAnother() bool { return p.Removed != nil || p.Taken != nil }

// EarlyLosses finds each protected grant that was lost too early, with the earliest evidence of it.
func (m *Model) EarlyLosses() *EarlyLosses {
	m.derived.earlyOnce.Do(func() { m.derived.early = m.findEarlyLosses() })
	return &m.derived.early
}

func (m *Model) findEarlyLosses() (all EarlyLosses) {
	for _, k := range m.Locks {
		before, takeOvers := len(all.Found), k.takeOvers()
		for i, h := range k.Grants {
			p, protected := m.earlyLossOf(k, i)
			if protected {
				all.protected++
			}
			lossNS := int64(Never)
			if p != nil {
				lossNS = p.AtNS
			}
			if t := m.takenOver(k, takeOvers[h.Session], h, lossNS); t != nil {
				p = &EarlyLoss{UntilNS: h.LeaseNS, AtNS: t.DoneNS, Taken: t}
			}
			if p != nil {
				p.Key, p.Hold = k.Name, h
				all.Found = append(all.Found, *p)
			}
		}
		m.removals(k, all.Found[before:], takeOvers)
	}
	switch {
	case !m.Plan.SameKernel:
		all.NotApplicable = m.Plan.ElsewhereWords() + ": their clock cannot be compared with the harness's"
	case all.protected == 0:
		all.NotApplicable = "no grant was protected by a lease that the service had acknowledged"
	}
	return all
}

// earlyLossOf looks for evidence that the i-th grant of a key was gone before its protection ended.
//
// Another client's grant is evidence only if it was certainly made after this one: it was asked for after this one had
// been read, or its token is greater, whichever of the two was read first. Without that, a grant that was made first and
// read late would accuse a correct lock. Both were made before their completions were read, so a completion before the
// end of the protection proves that the service gave the lock away while it was promised. Stamps bound these moments
// from the safe side, even if a process stood still in between; what a stall does to the promise itself is taken off in
// LeaseUntil.
//
// The service's own answer is evidence if nothing else can explain it: a release answered "not owned" did nothing, so
// the protection counted against it is the one that every other release leaves.
func (m *Model) earlyLossOf(k *Lock, i int) (found *EarlyLoss, protected bool) {
	h := k.Grants[i]
	note := func(p EarlyLoss) {
		if found == nil || p.AtNS < found.AtNS {
			found = &p
		}
	}
	if h.LeaseNS != 0 {
		protected = true
		if newer := cmp.Or(m.newerReadBefore(k, i), m.newerReadAfter(k, i)); newer != nil {
			note(EarlyLoss{UntilNS: h.LeaseNS, AtNS: newer.DoneNS, By: newer})
		}
	}
	if h.EndedNS > h.DoneNS {
		if until := m.ownProtection(h, nil, h.EndedNS); h.EndedNS < until {
			protected = true
			note(EarlyLoss{UntilNS: until, AtNS: h.EndedNS, Answer: "said that its lease was gone"})
		}
	}
	for _, a := range h.Attempts {
		if !a.NotOwned() || a.InvokeNS < h.DoneNS {
			continue
		}
		until := m.ownProtection(h, a, a.DoneNS)
		if until > h.DoneNS && a.DoneNS < until {
			protected = true
			note(EarlyLoss{UntilNS: until, AtNS: a.DoneNS, Answer: fmt.Sprintf("answered its %s with \"not owned\"", a.F)})
		}
	}
	return found, protected
}

// newerReadAfter is the first grant of another client, of those read after the i-th and before its protection ended, that
// was certainly made after it; nil if there is none.
func (m *Model) newerReadAfter(k *Lock, i int) *Hold {
	h := k.Grants[i]
	for _, g := range k.Grants[i+1:] {
		if g.DoneNS >= h.LeaseNS {
			return nil
		}
		if g.Client != h.Client && m.CertainlyLater(k, h, g) {
			return g
		}
	}
	return nil
}

// newerReadBefore is the first grant of another client that was read before the i-th although it was made later: where
// tokens prove an order, one with a greater token. nil if there is none.
//
// A grant whose token is greater than all before it (it leads) has none. The first of all with a token greater than one
// leads, so a binary search finds it.
func (m *Model) newerReadBefore(k *Lock, i int) *Hold {
	h := k.Grants[i]
	if h.Token == "" || !m.TokensProve(k) {
		return nil
	}
	leads := k.Tokens().behind
	if leads.leader(i) == i {
		return nil
	}
	greater := func(g *Hold) bool { return g.Token != "" && CompareTokens(g.Token, h.Token) > 0 }
	first := sort.Search(i, func(n int) bool {
		at := leads.leader(n)
		return at >= 0 && greater(k.Grants[at])
	})
	for _, g := range k.Grants[first:i] {
		if g.Client != h.Client && greater(g) {
			return g
		}
	}
	return nil
}
