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
		var standing []int32 // where the writes are that nobody has overwritten so yet, in the order of the log
		for at, w := range k.handled {
			if w.F != history.Write {
				continue
			}
			base, ok := k.builtOn(w)
			if !ok {
				o.defect = defectf("the write of %q to %s (seq %d) was built on %q, a value that nobody had written", w.Value, k.name, w.Seq(), w.Base)
				return o
			}
			from := len(standing)
			for from > 0 && k.handled[standing[from-1]].place > base {
				from--
			}
			for _, n := range standing[from:] {
				if u := k.handled[n]; u.Outcome == history.OK {
					o.hits = append(o.hits, hit{k.name, w.handledNS, func() Finding { return j.lostFinding(k, u, w) }})
				}
			}
			standing = append(standing[:from], int32(at))
		}
	}
	return o
}

// builtOn is the place of the write that w was built on, 0 for the initial value. A client whose write has not taken
// effect may go on from the value it believes it wrote; what that one was built on counts then.
func (k *keyView) builtOn(w *Access) (place int32, ok bool) {
	at := w
	for range k.writes + 1 {
		switch {
		case at.built == nil:
			return 0, at.Base == ""
		case at.built.place != 0 && at.built.place < w.place:
			return at.built.place, true
		}
		at = at.built
	}
	return 0, false
}

// lostFinding tells how the write u was lost to the write w.
func (j *judge) lostFinding(k *keyView, u, w *Access) Finding {
	victim, writer := u.Hold, w.Hold
	on := "the initial value"
	if w.Base != "" {
		on = w.Base
	}
	f := Finding{
		Key: k.name, AtNS: w.handledNS, Requests: []int64{u.Seq(), w.Seq()},
		FromNS: min(victim.DoneNS, writer.DoneNS), ToNS: w.handledNS,
		Summary: fmt.Sprintf("the update %s of %s, which was acknowledged, is lost: %s overwrote it with %s, built on %s", u.Value, victim.Client, writer.Client, w.Value, on),
		Cause:   j.cause(writer, victim, w.handledNS),
	}
	s := j.story(&f, writer, victim)
	s.accessed(u)
	s.accessedAs(w, fmt.Sprintf("%s's update %s is lost", victim.Client, u.Value))
	s.finish()
	return f
}
