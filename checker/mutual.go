package checker

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
)

// mutualExclusion is J1: two recorded holds of one lock by different clients overlap, strictly. Both ends of a recorded
// hold are bounds from within (R4: it starts when the grant was read and ends when a message was sent that the client
// answered with "held"), so neither a slow harness nor a stall can make one longer than it was.
func (j *judge) mutualExclusion() outcome {
	var o outcome
	for _, k := range j.keys {
		// Sweep the holds by their start and keep those that still last: each pair is met once.
		var lasting []*Hold
		for _, g := range k.grants {
			if g.BelievedNS == 0 {
				continue
			}
			lasting = slices.DeleteFunc(lasting, func(h *Hold) bool { return h.BelievedNS <= g.DoneNS })
			for _, h := range lasting {
				if h.Client != g.Client {
					old, young := j.older(k, h, g)
					o.hits = append(o.hits, hit{k.name, g.DoneNS, old.ID, func() Finding { return j.overlap(old, young) }})
				}
			}
			lasting = append(lasting, g)
		}
	}
	return o
}

// overlap is the finding of two clients that believed in one lock at once. Old was granted first, as far as that is known.
func (j *judge) overlap(old, young *Hold) Finding {
	from, to := max(old.DoneNS, young.DoneNS), min(old.BelievedNS, young.BelievedNS)
	f := Finding{
		Key: old.Key, FromNS: min(old.DoneNS, young.DoneNS), ToNS: max(old.BelievedNS, young.BelievedNS), AtNS: from,
		Summary: fmt.Sprintf("%s and %s both believed they held %s for %s, from %s to %s",
			old.Client, young.Client, old.Key, history.Duration(to-from), history.Moment(from), history.Moment(to)),
		Cause: j.cause(old, young, from),
		// Each looked at what its library declared and was told that it was safe.
		Unavoidable: j.m.Plan.SameKernel && min(old.ValidNS, young.ValidNS) > from,
	}
	s := j.story(&f, old, young)
	s.add(from, nil, 0, "from here both %s and %s believe they hold %s", old.Client, young.Client, old.Key)
	s.finish()
	return f
}
