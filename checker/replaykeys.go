package checker

import "lockcheck/checker/history"

// replayKeys has the records of a resource that takes slots as idempotency keys (J12), and holds against them what it answered as a
// record that there had been. That it applied what it should have answered so is for double-execution to find.
type replayKeys struct {
	replay
	keyed    bool
	excerpt  bool // in which the first record may be missing
	recorded map[slotOf]string
}

// slotOf is a slot of a key.
type slotOf struct {
	key  string
	slot int64
}

func withKeys(p *history.Plan, other replay) replay {
	return replayKeys{other, p.Keyed(), p.Excerpt != nil, map[slotOf]string{}}
}

func (r replayKeys) handled(q *history.Request) *breach {
	slot, _ := history.RecordedSlot(q.Value)
	at := slotOf{q.Key, slot}
	switch {
	case q.First != "" && !r.keyed:
		return miscompared(q, "the resource answered request %s (seq %d) as request %s, although it has no idempotency keys", q.Request, q.Seq, q.First)
	case q.First != "" && !r.excerpt && r.recorded[at] != q.First:
		return miscompared(q, "the resource answered request %s (seq %d) as request %s, which is not the first record of slot %d of %s",
			q.Request, q.Seq, q.First, slot, q.Key)
	case r.keyed && q.Kind == history.KindWrite && q.Outcome == history.Applied && r.recorded[at] == "":
		r.recorded[at] = q.Request
	}
	return r.replay.handled(q)
}
