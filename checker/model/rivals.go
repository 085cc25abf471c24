package model

import (
	"cmp"
	"sort"
)

// rivals are the acquires of a lock in the order in which they can have been granted, and until when their records may be there. A client that does
// not look whose record it acts on may say of any of them that it was its own (R6).
type rivals []rival

// rival is one, and of all up to it the one whose record may be there longest, and the longest of any other hold than that.
type rival struct {
	startNS  int64
	latest   *Hold
	latestNS int64
	othersNS int64
}

func (m *Model) rivalsOf(k *Lock) rivals {
	all := make(rivals, 0, len(k.Acquires))
	for _, h := range k.Acquires {
		if until := m.recordUntil(h); until > 0 {
			all = append(all, rival{startNS: h.StartNS(), latest: h, latestNS: min(until, k.replacedNS(h))})
		}
	}
	SortInOrder(all, func(a, b rival) int { return cmp.Compare(a.startNS, b.startNS) })
	for i := 1; i < len(all); i++ {
		all[i].after(&all[i-1])
	}
	return all
}

// replacedNS is when a client, its own or another, had been granted the lock that certainly asked for it after a hold was read; never if none was.
func (k *Lock) replacedNS(h *Hold) int64 {
	from := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].DoneNS > h.GrantedByNS() })
	for _, g := range k.Grants[from:] {
		if h.FollowedBy(g) {
			return g.DoneNS
		}
	}
	return Never
}

// after adds what is known of those before.
func (r *rival) after(before *rival) {
	if before.latestNS > r.latestNS {
		r.latest, r.latestNS, r.othersNS = before.latest, before.latestNS, max(r.latestNS, before.othersNS)
	} else {
		r.othersNS = before.latestNS
	}
}

// mayHaveHad reports whether the record that an answer to a hold speaks of may have been another hold's.
func (all rivals) mayHaveHad(h *Hold, a *Attempt) bool {
	n := sort.Search(len(all), func(i int) bool { return all[i].startNS >= a.DoneNS })
	if n == 0 {
		return false
	}
	r := &all[n-1]
	if r.latest == h {
		return r.othersNS > a.SentNS()
	}
	return r.latestNS > a.SentNS()
}
