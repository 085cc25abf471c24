package checker

import "lockcheck/checker/history"

// replay goes over the log of a resource and holds what it rejected against what it compares (R9). That it rejected what it
// should have accepted harms nothing that any property looks at, and can only be a bug of the resource. That it accepted what
// it should have rejected is for stale-write and lost-update to say, which prove it.
type replay interface {
	handled(q *history.Request) *breach
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

func (unreplayed) handled(*history.Request) *breach { return nil }

// replayNothing is of a resource that compares nothing, and takes every request.
type replayNothing struct{}

func (replayNothing) handled(q *history.Request) *breach {
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

func (t replayTokens) handled(q *history.Request) *breach {
	mark := t.marks[q.Key]
	switch {
	case q.Token == "" && q.Outcome == history.Rejected && t.named:
		return miscompared(q, "the resource rejected request %s (seq %d), which has no token to compare", q.Request, q.Seq)
	case q.Token == "": // nothing to compare
	case q.Outcome == history.Rejected && (mark == "" || compareTokens(q.Token, mark) >= 0):
		return miscompared(q, "the resource rejected request %s (seq %d) with token %s, although the highest token it had served on %s is %q",
			q.Request, q.Seq, q.Token, q.Key, mark)
	case q.Outcome == history.Applied && (mark == "" || compareTokens(q.Token, mark) > 0):
		t.marks[q.Key] = q.Token
	}
	return nil
}

// replayBases has, by key, the value that compare-and-set has to compare with: what the last write left that was accepted.
type replayBases map[string]string

func (b replayBases) handled(q *history.Request) *breach {
	value := b[q.Key]
	switch {
	case q.Outcome == history.Rejected && q.Kind == history.KindRead:
		return miscompared(q, "the resource rejected request %s (seq %d), a read, which has no base to compare", q.Request, q.Seq)
	case q.Outcome == history.Rejected && q.Base == value:
		return miscompared(q, "the resource rejected request %s (seq %d), which was built on %s, the value that %s had", q.Request, q.Seq, valueName(q.Base), q.Key)
	case q.Outcome == history.Applied && q.Kind == history.KindWrite:
		b[q.Key] = q.Value
	}
	return nil
}
