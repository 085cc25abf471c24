package model

import (
	"cmp"

	"lockcheck/checker/history"
)

// ask is a lock and a client.
type ask struct{ key, client string }

// AsksOf are the acquires of a lock by a client.
func (m *Model) AsksOf(key, client string) []*Hold {
	m.derived.asksOnce.Do(func() {
		m.derived.asks = map[ask][]*Hold{}
		for _, h := range m.Holds {
			of := ask{h.Key, h.Client}
			m.derived.asks[of] = append(m.derived.asks[of], h)
		}
	})
	return m.derived.asks[ask{key, client}]
}

// WaitsUntil is WaitedUntil, quickly where the client answered.
func (m *Model) WaitsUntil(h *Hold) int64 {
	if h.Outcome == history.OK || h.Outcome == history.Fail {
		return h.DoneNS
	}
	return m.WaitedUntil(h)
}

// Bound is how long a wait that lasted from a moment to another may be.
func (m *Model) Bound(from, to int64) history.Bound {
	return m.bounds.Between(from, to, func(name string) bool { return m.Clients[name] != nil })
}

// Faulty are the stretches of faults. One that never took and had nothing to be taken back is none.
func (m *Model) Faulty() (spans []Span) {
	for _, f := range m.Faults {
		if f.EffectiveNS != 0 || f.HealNS != 0 || f.Error == "" {
			spans = append(spans, Span{f.BeginNS, f.GoneNS(m.EndNS)})
		}
	}
	return spans
}

// WaitedUntil is when an acquire was answered, or its client ended or was asked to.
func (m *Model) WaitedUntil(h *Hold) int64 {
	until := h.DoneNS
	if h.Outcome == history.Invoke {
		until = m.EndNS
	}
	for _, end := range []int64{h.ExitNS, m.Clients[h.Client].CloseNS} {
		if end != 0 {
			until = min(until, end)
		}
	}
	return until
}

// MinBoundNS is what no bound of the run is shorter than: what its plan alone asks for.
func (m *Model) MinBoundNS() int64 { return m.Bound(0, 0).NS() }

// WaitersAt are the acquires of a lock that were pending at a moment, and whether one of them was granted after it. Equal
// stamps prove no order: a grant at that very moment came after it. A try does not wait.
func (k *Lock) WaitersAt(ns int64) (waiters []*Hold, granted bool) {
	for _, h := range k.Acquires {
		if h.InvokeNS >= ns {
			break
		}
		if h.Try || h.Outcome != history.Invoke && h.DoneNS < ns {
			continue
		}
		waiters = append(waiters, h)
		granted = granted || h.Outcome == history.OK
	}
	return waiters, granted
}

// MayHoldUntil is until when an acquire that was answered may have kept the lock from others. One of unknown outcome may for
// as long as its client lives, and so may a grant whose release did not definitely come to its end. A loss that was told ends neither: a
// library may tell it because it cannot reach the service, whose record lives on with the session.
func (m *Model) MayHoldUntil(h *Hold) int64 {
	if h.Outcome != history.OK && h.Outcome != history.Info {
		return 0
	}
	until := int64(Never)
	for _, end := range []int64{h.EndedNS, m.Clients[h.Client].ExitNS} {
		if end != 0 {
			until = min(until, end)
		}
	}
	for _, a := range h.Attempts {
		if a.Gone() {
			until = min(until, a.DoneNS)
		}
	}
	if c := h.Cleanup(); c != nil {
		until = min(until, c.DoneNS)
	}
	return until
}

// MayKeepUntil is MayHoldUntil, but a grant keeps the lock no longer than until its loss is proven (rule R5), or until a later answer to its
// client that a record was there, whosever it was.
func (m *Model) MayKeepUntil(h *Hold) int64 {
	return min(m.MayHoldUntil(h), max(cmp.Or(h.LossNS, Never), h.actedNS()))
}

// actedNS is when the last request was sent of which its client was told that a record was there, 0 if there was none.
func (h *Hold) actedNS() (last int64) {
	for _, a := range h.Attempts {
		if a.Acted() {
			last = max(last, a.SentNS())
		}
	}
	return last
}

// AnySilent reports whether any client was silent.
func (m *Model) AnySilent() bool {
	for _, c := range m.Clients {
		if len(c.Silent) > 0 {
			return true
		}
	}
	return false
}

// Silences are when clients that waited for a lock, or may have held it, were silent, merged. A silent client may have been
// granted the lock, and not have read that.
func (m *Model) Silences(k *Lock) (spans []Span) {
	for _, h := range k.Acquires {
		until := max(m.WaitedUntil(h), m.MayKeepUntil(h))
		for _, s := range endingAfter(m.Clients[h.Client].Silent, h.InvokeNS) {
			if s = (Span{max(s.FromNS, h.InvokeNS), min(s.ToNS, until)}); s.FromNS < s.ToNS {
				spans = append(spans, s)
			}
		}
	}
	return Merged(spans)
}

// RecoveryNS is how long one lease and one election may take.
func (m *Model) RecoveryNS() int64 { return m.Plan.RecoveryMS() * 1e6 }

// Wait is a stretch in which a client waited for a lock, as far as it counts.
type Wait struct {
	SinceNS   int64 // from when it counts
	CountedNS int64
	Works     bool          // a plain write to the service succeeded after the last that failed
	Bound     history.Bound // how long the wait may be
}

// TooLong reports whether it is.
func (w Wait) TooLong() bool { return w.Works && w.CountedNS > w.Bound.NS() }

// Waited is how much of [from, to] counts: what disturbances (merged spans) leave of the stretch after the service was last
// seen to refuse a plain write.
func (m *Model) Waited(from, to int64, disturbed []Span) Wait {
	works := false
	for _, p := range m.Probes {
		switch {
		case p.InvokeNS > to:
		case p.DoneNS == 0 || !p.OK:
			from, works = max(from, p.DoneNS, p.InvokeNS), false
		case p.DoneNS >= from:
			works = true
		}
	}
	from = min(from, to)
	return Wait{SinceNS: from, CountedNS: to - from - Within(disturbed, from, to), Works: works, Bound: m.Bound(from, to)}
}

// Disturbed are the stretches in which the machine or the harness stood still, or a fault was in effect, merged.
func (m *Model) Disturbed() []Span { return Merged(append(m.Faulty(), m.Stalls...)) }

// MayHoldSince is from when on an acquire that was answered may have kept the lock from others. One of unknown outcome may since it was
// asked for, as its client need not have read that it was granted. Where it waited for too long itself, it hung like those beside it, unless
// what it may have had was gone before it was answered: it may have waited that long for a lock that was held. Silences (merged) do not count.
func (m *Model) MayHoldSince(h *Hold, silent []Span) int64 {
	if h.Outcome != history.Info {
		return h.DoneNS
	}
	until := m.WaitedUntil(h)
	if until-h.InvokeNS > m.MinBoundNS() && m.MayHoldUntil(h) >= until {
		if m.Waited(h.InvokeNS, until, Merged(append(m.Disturbed(), silent...))).TooLong() {
			return until
		}
	}
	return h.InvokeNS
}
