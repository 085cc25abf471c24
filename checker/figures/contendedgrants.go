package figures

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// contended counts the grants of the load that another client's acquire of the same lock waited for while they were held: those that
// kept the others out for as long, and those during which another was let in. A lock that lets all clients in is none, and a
// client of which two acquires happen to overlap has waited for nothing.
func contended(m *model.Model) (kept, letIn int64) {
	for _, k := range m.Locks {
		before, by := queued{acquires: k.Acquires}, queued{acquires: k.Acquires} // asked for before the grant, and by then
		asked, granted := sameClient{acquires: k.Acquires}, sameClient{acquires: k.Grants}
		waited := func(h *model.Hold, heldNS int64) bool {
			before.until(h.DoneNS)
			by.until(h.DoneNS + 1)
			switch {
			case before.other(h.ClientNumber) > h.DoneNS:
				return true
			case heldNS == h.DoneNS:
				return false
			case by.other(h.ClientNumber) > h.DoneNS:
				return true
			}
			at := asked.end(by.n, h.ClientNumber) // an acquire asked for later has waited for longer than up to the grant
			return at < len(k.Acquires) && k.Acquires[at].InvokeNS < heldNS
		}
		for i, h := range k.Grants {
			heldNS := heldNS(m, h)
			if !m.InLoad(h.DoneNS) {
				break
			}
			if !waited(h, heldNS) {
				continue
			}
			if next := granted.end(i, h.ClientNumber); next < len(k.Grants) && k.Grants[next].DoneNS < heldNS {
				letIn++
			} else {
				kept++
			}
		}
	}
	return kept, letIn
}

// heldNS is up to when a lock that keeps others out lets no other client in: as long as its client believed in it or the
// service is proven to have held it, and up to its release where its client was told of no loss; but no longer than its lease,
// or, without any lease report in the run, the time to live that was asked for.
func heldNS(m *model.Model, h *model.Hold) int64 {
	held := max(h.DoneNS, h.BelievedNS, h.ClaimedNS)
	if h.LostNS == 0 {
		held = max(held, h.ReleaseNS)
	}
	switch {
	case h.LeaseNS != 0:
		held = min(held, max(h.DoneNS, h.LeaseNS))
	case !m.Leased && m.Plan.TTLMS > 0:
		held = min(held, h.DoneNS+m.Plan.TTLMS*1e6)
	}
	return held
}

// queued is until when those wait that have asked for a lock so far.
type queued struct {
	acquires []*model.Hold
	n        int // so many have been looked at
	longestWaits
}

// until looks at all that asked before a moment.
func (q *queued) until(ns int64) {
	for ; q.n < len(q.acquires) && q.acquires[q.n].InvokeNS < ns; q.n++ {
		h, until := q.acquires[q.n], int64(model.Never)
		if h.Outcome != history.Invoke {
			until = h.DoneNS
		}
		q.take(h.ClientNumber, until)
	}
}

// sameClient finds the ends of runs of acquires by one client. It remembers the last, so that one is not gone over for
// each place in it.
type sameClient struct {
	acquires []*model.Hold
	from, to int
	client   int32
}

// end is the first acquire from a place on that is not that client's.
func (r *sameClient) end(from int, client int32) int {
	if client != r.client || from < r.from || from > r.to {
		r.from, r.to, r.client = from, from, client
	}
	for r.to < len(r.acquires) && r.acquires[r.to].ClientNumber == client {
		r.to++
	}
	return r.to
}

// longestWaits is until when the two clients that wait longest do.
type longestWaits struct {
	until, second int64
	client        int32
}

func (w *longestWaits) take(client int32, until int64) {
	switch {
	case client == w.client:
		w.until = max(w.until, until)
	case until > w.until:
		w.client, w.until, w.second = client, until, w.until
	default:
		w.second = max(w.second, until)
	}
}

func (w *longestWaits) other(than int32) int64 {
	if w.client == than {
		return w.second
	}
	return w.until
}
