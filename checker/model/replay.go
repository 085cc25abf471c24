package model

import "lockcheck/checker/history"

// replay goes over the log of a resource and holds what it rejected against what it compares (R9). That it rejected what it
// should have accepted harms nothing that any property looks at, and can only be a bug of the resource. That it accepted what
// it should have rejected is for stale-write and lost-update to say, which prove it.
type replay interface {
	handled(q *history.Request) *Breach
}

// newReplay is that of a plan's resource. Plans from before they named it say too little for more than the tokens.
func newReplay(p *history.Plan) replay { return withKeys(p, newComparing(p)) }

// newComparing is that of what the resource compares, beside its keys.
func newComparing(p *history.Plan) replay {
	switch {
	case p.Excerpt != nil && p.Compares() == history.CompareBases:
		return unreplayed{} // most writes are missing, so the values are not known
	case p.Resource == "":
		return replayTokens{marks: map[string]string{}}
	}
	return map[history.Comparison]replay{
		history.CompareNothing: replayNothing{},
		history.CompareTokens:  replayTokens{map[string]string{}, true},
		history.CompareBases:   replayBases{},
		history.CompareKeys:    replayNothing{},
	}[p.Compares()]
}

// unreplayed is a log that nothing can be held against.
type unreplayed struct{}

func (unreplayed) handled(*history.Request) *Breach { return nil }

// replayNothing is of a resource that compares nothing, and takes every request.
type replayNothing struct{}

func (replayNothing) handled(q *history.Request) *Breach {
	if q.Outcome == history.Rejected {
		return miscompared(q, "the resource rejected request %s (seq %d), although it compares nothing", q.Request, q.Seq)
	}
	return nil
}

// replayTokens has, by key, the highest token that a fenced resource has served.
type replayTokens struct {
	marks map[string]string
	named bool // the plan says that it is fenced
}

func (t replayTokens) handled(q *history.Request) *Breach {
	mark := t.marks[q.Key]
	switch {
	case q.Token == "" && q.Outcome == history.Rejected && t.named:
		return miscompared(q, "the resource rejected request %s (seq %d), which has no token to compare", q.Request, q.Seq)
	case q.Token == "": // nothing to compare
	case q.Outcome == history.Rejected && (mark == "" || CompareTokens(q.Token, mark) >= 0):
		return miscompared(q, "the resource rejected request %s (seq %d) with token %s, although the highest token it had served on %s is %q",
			q.Request, q.Seq, q.Token, q.Key, mark)
	case q.Outcome == history.Applied && (mark == "" || CompareTokens(q.Token, mark) > 0):
		t.marks[q.Key] = q.Token
	}
	return nil
}

// replayBases has, by key, the value that compare-and-set has to compare with: what the last write left that was accepted.
type replayBases map[string]string

func (b replayBases) handled(q *history.Request) *Breach {
	value := b[q.Key]
	switch {
	case q.Outcome == history.Rejected && q.Kind == history.KindRead:
		return miscompared(q, "the resource rejected request %s (seq %d), a read, which has no base to compare", q.Request, q.Seq)
	case q.Outcome == history.Rejected && q.Base == value:
		return miscompared(q, "the resource rejected request %s (seq %d), which was built on %s, the value that %s had", q.Request, q.Seq, ValueName(q.Base), q.Key)
	case q.Outcome == history.Applied && q.Kind == history.KindWrite:
		b[q.Key] = q.Value
	}
	return nil
}

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

func (r replayKeys) handled(q *history.Request) *Breach {
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
