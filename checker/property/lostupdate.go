package property

import (
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// LostUpdate is rule J4: the log of a key is replayed; a write built on a value that is no longer current overwrites every
// write since that value, and those that were acknowledged to their clients are lost.
func (j *Judge) LostUpdate() Outcome {
	var o Outcome
	if o.Inconclusive = j.m.Untrusted(); o.Inconclusive != "" {
		return o
	}
	var misplaced *model.Access // the first write that compare-and-set had to reject, and did not
	for _, k := range j.keys {
		log := unoverwritten{handled: k.Handled}
		var current *model.Access // the last write so far; nil for the initial value
		for at, w := range k.Handled {
			if w.F != history.Write {
				continue
			}
			base, ok := builtOn(k, w)
			if !ok {
				o.Defect = model.Defectf("the write of %q to %s (seq %d) was built on %q, a value that no client had written", w.Value, k.Name, w.Seq(), w.Base)
				return o
			}
			if w.Built != current && misplaced == nil {
				misplaced = w
			}
			current = w
			for _, u := range log.write(at, base) {
				if by := w; u.Outcome == history.OK {
					old, _ := j.m.Older(k, by.Hold, u.Hold)
					o.add(k.Name, by.HandledNS, old.ID, func() model.Finding { return j.lostFinding(k, u, by) })
				}
			}
		}
	}
	// Where no acknowledged update was lost by it, it is a bug of the resource and nothing else. A run that goes on may still
	// acknowledge one.
	if misplaced != nil && len(o.Violations) == 0 && !j.m.GoesOn && j.m.Plan.UnderTest == nil && j.m.Plan.Compares() == history.CompareBases {
		o.Defect = model.Defectf("the resource accepted request %d (seq %d), which was built on %s, and not on the value that %s had",
			misplaced.Op, misplaced.Seq(), model.ValueName(misplaced.Base), misplaced.Hold.Key)
	}
	return o
}

// unoverwritten is the writes of a log that no write has overwritten yet without being built on them. As long as each is built on
// the one before it that is all of them, one stretch of the log; each write that is not begins another.
type unoverwritten struct {
	handled   []*model.Access
	stretches []stretch
	lost      []*model.Access
}

// stretch is a part of a log, from the first to the last of its writes.
type stretch struct{ first, last int }

// write adds a write, and returns those it overwrites that came after its base. What it returns is good until the next.
func (s *unoverwritten) write(at int, base int32) []*model.Access {
	s.lost = s.lost[:0]
	n := len(s.stretches)
	for n > 0 {
		top := &s.stretches[n-1]
		for ; top.last >= top.first; top.last-- {
			u := s.handled[top.last]
			if u.F != history.Write {
				continue
			}
			if u.Place <= base {
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
func builtOn(k *model.Lock, w *model.Access) (place int32, ok bool) {
	at := w
	for range k.Writes + 1 {
		switch {
		case at.Built == nil:
			return 0, at.Base == ""
		case at.Built.Place != 0 && at.Built.Place < w.Place:
			return at.Built.Place, true
		}
		at = at.Built
	}
	return 0, false
}

// lostFinding is the finding that the write u was lost to the write w.
func (j *Judge) lostFinding(k *model.Lock, u, w *model.Access) model.Finding {
	victim, writer := u.Hold, w.Hold
	old, young := j.m.Older(k, writer, victim)
	on := "the initial value"
	if w.Base != "" {
		on = w.Base
	}
	f := model.Finding{
		Key: k.Name, AtNS: w.HandledNS, Requests: []int64{u.Seq(), w.Seq()},
		FromNS: min(old.DoneNS, young.DoneNS), ToNS: w.HandledNS,
		Summary: fmt.Sprintf("the update %s of %s, which was acknowledged, is lost: %s overwrote it with %s, built on %s", u.Value, victim.Client, writer.Client, w.Value, on),
		Cause:   explain.LossCause(j.m, old, young, w.HandledNS),
	}
	s := explain.NewStory(j.m, &f, old, young)
	s.Accessed(u)
	s.AccessedAs(w, fmt.Sprintf("%s's update %s is lost", victim.Client, u.Value))
	s.Finish()
	return f
}

// UpdatesTested says what a pass lacks: only an update that was acknowledged can be lost, and only to another.
func (j *Judge) UpdatesTested() string {
	if j.used(func(writes, acknowledged, _ int) bool { return writes > 1 && acknowledged > 0 }) {
		return ""
	}
	return "the resource handled no write beside one that it had acknowledged, so no update could be lost"
}
