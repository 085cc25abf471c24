package checker

import (
	"fmt"
	"slices"
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
					o.hits = append(o.hits, hit{k.name, g.DoneNS, func() Finding { return j.overlap(h, g) }})
				}
			}
			lasting = append(lasting, g)
		}
	}
	return o
}

// overlap tells of two clients that believed in one lock at once. Old was granted first.
func (j *judge) overlap(old, young *Hold) Finding {
	from, to := young.DoneNS, min(old.BelievedNS, young.BelievedNS)
	f := Finding{
		Key: old.Key, FromNS: old.DoneNS, ToNS: max(old.BelievedNS, young.BelievedNS), AtNS: from,
		Summary: fmt.Sprintf("%s and %s both believed they held %s for %s, from %s to %s",
			old.Client, young.Client, old.Key, dur(to-from), clock(from), clock(to)),
		Cause: j.cause(old, young, from),
		// Each looked at what its library declared and was told that it was safe.
		Unavoidable: j.m.Plan.SameKernel && min(old.ValidNS, young.ValidNS) > from,
	}
	s := j.story(&f, old, young)
	s.add(from, nil, 0, "from here both %s and %s believe they hold %s", old.Client, young.Client, old.Key)
	s.finish()
	return f
}
