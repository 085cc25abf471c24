package property

import (
	"fmt"
	"slices"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// LockLinearizability is rule J6.
func (j *Judge) LockLinearizability() Outcome {
	if !j.somethingToHoldOnTo() {
		return Outcome{NotApplicable: "no grant was protected by an acknowledged lease, proven to be held or confirmed to have ended, and no refused try is evidence: " +
			"any answers at all can be explained"}
	}
	o := j.toConfirm()
	for _, k := range j.keys {
		tenures := inTurn(tenuresOf(k))
		conflicts := lockOrder(tenures)
		if j.m.Ordered() {
			for _, c := range k.Tokens().Contradicted {
				if c.First.DoneNS >= c.Then.ProvenNS {
					continue
				}
				o.add(k.Name, c.Then.DoneNS, c.First.ID, func() model.Finding { return j.contradictionFinding(k, c, false) })
			}
		}
		if len(conflicts) == 0 {
			j.confirmLock(k, tenures, &o)
			continue
		}
		for _, c := range conflicts {
			if !j.unconfirmed {
				if o.Defect = confirmConflict(k.Name, c); o.Defect != nil {
					return o
				}
			}
			o.add(k.Name, c.atNS, c.lost().hold.ID, func() model.Finding { return j.lockFinding(k, c) })
		}
		o.Windows = append(o.Windows, j.drawLock(k, tenures, conflicts[0]))
	}
	if o.Unconfirmed != "" {
		o.ConfirmedBy = ""
	}
	return o
}

// somethingToHoldOnTo reports whether anything at all is known of when the service held a grant, beyond that its own
// release was answered, which contradicts nothing. Where nothing is, every answer can be explained, and a search that
// finds an order has found nothing out.
func (j *Judge) somethingToHoldOnTo() bool {
	for _, k := range j.keys {
		for s := range tenuresOf(k) {
			if s.from != 0 || s.hold.EndedNS != 0 {
				return true
			}
		}
		if j.m.Plan.TryAtomic && slices.ContainsFunc(k.Acquires, wasBusy) {
			return true
		}
	}
	return false
}

// toConfirm begins the outcome of a property that Porcupine confirms, unless it is left out.
func (j *Judge) toConfirm() Outcome {
	if j.unconfirmed {
		return Outcome{}
	}
	return Outcome{ConfirmedBy: porcupineName}
}

func (j *Judge) lockFinding(k *model.Lock, c lockConflict) model.Finding {
	h := c.then.hold
	f := model.Finding{Key: k.Name, AtNS: c.atNS, FromNS: c.then.lo, ToNS: max(c.then.hi, c.atNS)}
	if c.first == nil {
		f.Summary = fmt.Sprintf("%s was granted %s%s although the service had said by %s that its lease or grant was gone", h.Client, k.Name, explain.WithToken(h), history.Moment(c.then.by))
		f.Cause = explain.LossCause(j.m, h, nil, c.then.by)
		s := explain.NewStory(j.m, &f, h, nil)
		s.Asked(h)
		s.Add(c.then.by, nil, 0, "by here the service had said that the grant or the session of %s is gone", h.Client)
		if c.then.from > c.then.by {
			f.Summary = fmt.Sprintf("%s lost %s%s by %s although it was promised or proven to hold it until %s", h.Client, k.Name, explain.WithToken(h), history.Moment(c.then.by), history.Moment(c.then.from))
			s.Add(c.then.from, nil, 0, "until here the service had promised, or was proven, to hold the grant of %s", h.Client)
		}
		s.Finish()
		return f
	}
	old := c.first.hold
	f.FromNS, f.ToNS = min(f.FromNS, c.first.granted()), max(f.ToNS, c.first.from)
	how := "promised or proven"
	f.Summary = fmt.Sprintf("%s was granted %s%s while %s was %s to hold it (from %s until %s)", h.Client, k.Name, explain.WithToken(h), old.Client, how,
		history.Moment(c.first.granted()), history.Moment(c.first.from))
	f.Cause = explain.OrRelease(explain.LossCause(j.m, old, h, c.atNS), j.m.PerhapsRemovedBefore(old, c.atNS))
	s := explain.NewStory(j.m, &f, old, h)
	s.Asked(h)
	switch {
	case c.first.from == old.ProvenNS:
		s.Add(old.ProvenNS, nil, 0, "until here the service had the grant of %s: its answer proves it", old.Client)
	default:
		s.Add(leaseBy(j.m, old, c.atNS, old.LeaseNS), nil, 0, "until here the lease of %s ran, as acknowledged", old.Client)
	}
	if c.then.by < c.then.hi {
		s.Add(c.then.by, nil, 0, "by here the service had said that the session of %s is gone", h.Client)
	}
	s.Finish()
	return f
}

// StableLockConflict tells which findings are stable: one tenure that is impossible by what is certain, or two of holds that are over and of
// which the older was certainly still held, while no third can turn out to have been held for longer.
func (j *Judge) StableLockConflict() func(*model.Finding) bool {
	keys := map[string]*knownTenures{}
	return func(f *model.Finding) bool {
		holds := j.watch.named(j.m, f)
		if len(holds) == 0 || j.isContradiction(f) {
			return false // refused tries; or tokens, which may turn out to prove nothing
		}
		if keys[f.Key] == nil {
			keys[f.Key] = j.knownTenures(j.m.KeyNamed(f.Key))
		}
		tenures := keys[f.Key]
		then := tenures.of[holds[len(holds)-1]]
		if len(holds) == 1 {
			return j.certainUntil(then.hold) > then.by || then.lo > then.by
		}
		first := tenures.of[holds[0]]
		third := slices.ContainsFunc(tenures.loose, func(s tenure) bool {
			return s.hi <= f.AtNS && s.latestEnd() > f.AtNS && !slices.Contains(holds, s.hold)
		})
		if third || !j.endIsKnown(first) || !j.endIsKnown(then) || j.certainUntil(first.hold) <= f.AtNS {
			return false
		}
		return j.certainUntil(then.hold) > then.granted() || first.granted() < then.lo
	}
}

// knownTenures are the tenures of a key, and which of them may have been held when another was granted: mostly none.
type knownTenures struct {
	of    map[*model.Hold]tenure
	loose []tenure
}

func (j *Judge) knownTenures(k *model.Lock) *knownTenures {
	all := slices.Collect(tenuresOf(k))
	tenures, next := &knownTenures{of: make(map[*model.Hold]tenure, len(all))}, int64(model.Never) // when the first of the later ones was granted
	for _, s := range slices.Backward(all) {
		tenures.of[s.hold] = s
		if s.latestEnd() > next {
			tenures.loose = append(tenures.loose, s)
		}
		next = min(next, s.granted())
	}
	return tenures
}

// certainUntil is until when a hold was held for certain: nothing recorded later can change it.
func (j *Judge) certainUntil(h *model.Hold) int64 {
	return max(min(h.LeaseNS, j.watch.awakeUntil, max(h.BelievedNS, h.DoneNS)), h.ProvenNS)
}

// latestEnd is until when a tenure can turn out to have been held, at most.
func (s *tenure) latestEnd() int64 {
	if exit := s.hold.ExitNS; exit != 0 {
		return min(s.by, exit)
	}
	return s.by
}

// endIsKnown reports whether nothing later can show that a hold lasted longer than it is known to have, or that it
// ended before that: its client has gone on, or ended, and what still can be read of its leases ends before it was gone.
func (j *Judge) endIsKnown(s tenure) bool {
	return j.over(s.hold) && s.latestEnd() < model.Never && s.by >= j.m.ProtectionStop(s.hold, nil)
}
