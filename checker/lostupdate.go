package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// lostUpdate is J4: the log of a key is replayed; a write built on a value that is no longer current overwrites every
// write since that value, and those that were acknowledged to their clients are lost.
func (j *judge) lostUpdate() outcome {
	var o outcome
	if o.inconclusive = j.m.untrusted(); o.inconclusive != "" {
		return o
	}
	var misplaced *Access // the first write that compare-and-set had to reject, and did not
	for _, k := range j.keys {
		log := standing{handled: k.handled}
		var current *Access // the last write so far; nil for the initial value
		for at, w := range k.handled {
			if w.F != history.Write {
				continue
			}
			base, ok := k.builtOn(w)
			if !ok {
				o.defect = defectf("the write of %q to %s (seq %d) was built on %q, a value that no client had written", w.Value, k.name, w.Seq(), w.Base)
				return o
			}
			if w.built != current && misplaced == nil {
				misplaced = w
			}
			current = w
			for _, u := range log.write(at, base) {
				if by := w; u.Outcome == history.OK {
					old, _ := j.older(k, by.Hold, u.Hold)
					o.hits = append(o.hits, hit{k.name, by.handledNS, old.ID, func() Finding { return j.lostFinding(k, u, by) }})
				}
			}
		}
	}
	// Where no acknowledged update was lost by it, it is a bug of the resource and nothing else. A run that goes on may still
	// acknowledge one.
	if misplaced != nil && len(o.hits) == 0 && j.soFar == nil && j.m.Plan.UnderTest == nil && j.m.Plan.Compares() == history.CompareBases {
		o.defect = defectf("the resource accepted request %d (seq %d), which was built on %s, and not on the value that %s had",
			misplaced.Op, misplaced.Seq(), valueName(misplaced.Base), misplaced.Hold.Key)
	}
	return o
}

// standing is the writes of a log that no write has overwritten yet without being built on them. As long as each is built on
// the one before it that is all of them, one stretch of the log; each write that is not begins another.
type standing struct {
	handled   []*Access
	stretches []stretch
	lost      []*Access
}

// stretch is a part of a log, from the first to the last of its writes.
type stretch struct{ first, last int }

// write adds a write, and returns those it overwrites that came after its base. What it returns is good until the next.
func (s *standing) write(at int, base int32) []*Access {
	s.lost = s.lost[:0]
	n := len(s.stretches)
	for n > 0 {
		top := &s.stretches[n-1]
		for ; top.last >= top.first; top.last-- {
			u := s.handled[top.last]
			if u.F != history.Write {
				continue
			}
			if u.place <= base {
				break
			}
			s.lost = append(s.lost, u)
		}
		if top.last >= top.first {
			break
		}
		n--
	}
	s.stretches = s.stretches[:n]
	if n > 0 && len(s.lost) == 0 {
		s.stretches[n-1].last = at
	} else {
		s.stretches = append(s.stretches, stretch{at, at})
	}
	slices.Reverse(s.lost)
	return s.lost
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

// lostFinding is the finding that the write u was lost to the write w.
func (j *judge) lostFinding(k *keyView, u, w *Access) Finding {
	victim, writer := u.Hold, w.Hold
	old, young := j.older(k, writer, victim)
	on := "the initial value"
	if w.Base != "" {
		on = w.Base
	}
	f := Finding{
		Key: k.name, AtNS: w.handledNS, Requests: []int64{u.Seq(), w.Seq()},
		FromNS: min(old.DoneNS, young.DoneNS), ToNS: w.handledNS,
		Summary: fmt.Sprintf("the update %s of %s, which was acknowledged, is lost: %s overwrote it with %s, built on %s", u.Value, victim.Client, writer.Client, w.Value, on),
		Cause:   j.cause(old, young, w.handledNS),
	}
	s := j.story(&f, old, young)
	s.accessed(u)
	s.accessedAs(w, fmt.Sprintf("%s's update %s is lost", victim.Client, u.Value))
	s.finish()
	return f
}
