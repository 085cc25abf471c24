package checker

import (
	"fmt"

	"lockcheck/checker/history"
)

// lostUpdate is J4: the log of a key is replayed; a write built on a value that is no longer current overwrites every
// write since that value, and those that were acknowledged to their clients are lost.
func (j *judge) lostUpdate() outcome {
	var o outcome
	for _, k := range j.keys {
		var writes []*history.Request
		position := map[string]int{"": 0} // of a value in writes, from 1; the initial value stands before all
		lost := map[*history.Request]bool{}
		for _, w := range k.handled {
			if w.Kind != history.KindWrite {
				continue
			}
			base, ok := k.builtOn(w, position)
			if !ok {
				o.defect = defectf("the write of %q to %s (seq %d) was built on %q, a value that nobody had written", w.Value, k.name, w.Seq, w.Base)
				return o
			}
			for _, u := range writes[base:] {
				if a := k.writes[u.Value]; a.Outcome == history.OK && !lost[u] {
					lost[u] = true
					o.hits = append(o.hits, hit{k.name, w.TimeNS, func() Finding { return j.lostFinding(k, u, w) }})
				}
			}
			writes = append(writes, w)
			position[w.Value] = len(writes)
		}
	}
	return o
}

// builtOn is where in the replay the value stands that w was built on. A client whose write has not taken effect may go
// on from the value it believes it wrote; what that one was built on counts then.
func (k *keyView) builtOn(w *history.Request, position map[string]int) (int, bool) {
	base := w.Base
	for range len(k.writes) + 1 {
		if at, ok := position[base]; ok {
			return at, true
		}
		a := k.writes[base]
		if a == nil {
			return 0, false
		}
		base = a.Base
	}
	return 0, false
}

// lostFinding tells how the write u was lost to the write w.
func (j *judge) lostFinding(k *keyView, u, w *history.Request) Finding {
	victim, writer := j.holds[u.Hold], j.holds[w.Hold]
	on := "the initial value"
	if w.Base != "" {
		on = w.Base
	}
	f := Finding{
		Key: k.name, AtNS: w.TimeNS, Requests: []int64{u.Seq, w.Seq},
		FromNS: min(victim.DoneNS, writer.DoneNS), ToNS: w.TimeNS,
		Summary: fmt.Sprintf("the update %s of %s, which was acknowledged, is lost: %s overwrote it with %s, built on %s", u.Value, victim.Client, writer.Client, w.Value, on),
		Cause:   j.cause(writer, victim, w.TimeNS),
	}
	s := j.story(&f, writer, victim)
	s.accessed(u)
	s.accessedAs(w, fmt.Sprintf("%s's update %s is lost", victim.Client, u.Value))
	s.finish()
	return f
}
