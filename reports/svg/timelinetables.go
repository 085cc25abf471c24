package svg

import (
	"cmp"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// lineHold is one acquire and the hold that it came to, or count of them in one block.
type lineHold struct {
	client, lock int
	askNS        int64 // the acquire was sent
	doneNS       int64 // it was answered, or the run ended
	believedNS   int64
	endNS        int64 // released, told that it was lost, or dead, at the latest
	leaseNS      int64 // the lease may be over from here on; 0: unknown, or never while the client believed
	token        string
	granted      bool
	part         part
	count        int64 // 0: one
}

// gone reports whether the client believed in its hold when the lease may have been over: harmless by itself, and what all
// harm begins with.
func (h *lineHold) gone() bool { return h.leaseNS != 0 && h.leaseNS < h.believedNS }

func newLineHold(h *model.Hold, end int64) lineHold {
	l := lineHold{askNS: h.InvokeNS, doneNS: h.DoneNS, granted: h.Outcome == history.OK, token: h.Token}
	if l.doneNS == 0 {
		l.doneNS = max(end, h.InvokeNS)
	}
	l.believedNS, l.endNS = l.doneNS, l.doneNS
	if l.granted {
		l.believedNS, l.endNS = max(h.BelievedNS, h.DoneNS), holdEnd(h, end)
		if l.leaseNS = h.LeaseNS; l.leaseNS >= l.endNS {
			l.leaseNS = 0
		}
	}
	return l
}

// addHolds draws every acquire of a client that has a lane.
func (b *timelineBuilder) addHolds() {
	drawn := thinner[lineHold]{limit: b.limits.holds, end: b.EndNS, groups: 3 * len(b.Clients), merge: func(into, h *lineHold) {
		into.count = max(into.count, 1) + 1
		into.askNS, into.doneNS = min(into.askNS, h.askNS), min(into.doneNS, h.doneNS)
		into.believedNS, into.endNS = max(into.believedNS, h.believedNS), max(into.endNS, h.endNS)
		if h.gone() && (into.leaseNS == 0 || h.leaseNS < into.leaseNS) {
			into.leaseNS = h.leaseNS
		}
		if into.token = ""; into.lock != h.lock {
			into.lock = len(b.Locks)
		}
	}}
	b.holds = drawn.all(func(yield func(group int, at int64, keep bool, make func() lineHold)) {
		for _, h := range b.model.Holds {
			client, ok := b.clients[h.Client]
			if !ok {
				continue
			}
			l := newLineHold(h, b.EndNS)
			l.client, l.lock, l.part = client, b.lockOf(h.Key), b.parts[h.ID]
			group := 3 * client // those whose lease was outlived are never one block with others
			switch {
			case !l.granted:
				group++
			case l.gone():
				group += 2
			}
			yield(group, l.doneNS, l.part != partNone, func() lineHold { return l })
		}
	})
	slices.SortStableFunc(b.holds, func(x, y lineHold) int { return cmp.Compare(x.doneNS, y.doneNS) })
	b.noteThinned(drawn.n, len(b.holds), "acquires")
}

// lineWrite is one write that the resource handled, or count of them in one block.
type lineWrite struct {
	timeNS  int64
	seq     int64
	client  int // -1 if unknown
	lock    int
	token   string
	mark    string // the highest token that the resource had seen after it
	value   string
	outcome history.Outcome
	part    part
	count   int64
}

var writeOutcomes = []history.Outcome{history.Applied, history.Rejected, history.Duplicate}

func (b *timelineBuilder) addWrites(ix *Index) {
	named := map[int64]bool{}
	for _, p := range b.result.Properties {
		for _, f := range p.Findings {
			for _, seq := range f.Requests {
				named[seq] = true
			}
		}
	}
	requests := &b.model.Requests
	drawn := thinner[lineWrite]{limit: b.limits.writes, end: b.EndNS, groups: len(writeOutcomes) * (len(b.Locks) + 1), merge: func(into, w *lineWrite) {
		into.count = max(into.count, 1) + 1
		into.token, into.mark, into.value, into.client = "", w.mark, "", -1
	}}
	b.writes = drawn.all(func(yield func(group int, at int64, keep bool, make func() lineWrite)) {
		for i := range requests.Len() {
			r := requests.At(i)
			if r.Kind != history.KindWrite {
				continue
			}
			lock := b.lockOf(r.Key)
			group := max(slices.Index(writeOutcomes, r.Outcome), 0) + len(writeOutcomes)*lock
			yield(group, r.TimeNS, named[r.Seq], func() lineWrite {
				w := lineWrite{timeNS: r.TimeNS, seq: r.Seq, client: -1, lock: lock, token: r.Token, mark: r.Mark, value: r.Value, outcome: r.Outcome}
				who := ix.clientOf(i)
				if named[r.Seq] {
					w.part = max(b.parts[r.Hold], partOlder)
				}
				if client, ok := b.clients[who]; ok {
					w.client = client
				}
				return w
			})
		}
	})
	slices.SortStableFunc(b.writes, func(x, y lineWrite) int { return cmp.Compare(x.timeNS, y.timeNS) })
	b.noteThinned(drawn.n, len(b.writes), "writes")
}

func (b *timelineBuilder) noteThinned(all, drawn int, what string) {
	if drawn < all {
		b.LeftOut = append(b.LeftOut, history.Grouped(int64(all))+" "+what+" are drawn as "+history.Grouped(int64(drawn))+" blocks")
	}
}
