package explain

import (
	"cmp"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// WaitCause names, for a wait that was never granted, the last fault before it that was over after the lock's last grant: one
// from before a grant did not keep the lock from being granted.
func WaitCause(m *model.Model, k *model.Lock, beforeNS int64) model.Cause {
	last := k.LastGrant(beforeNS)
	sinceNS, since := int64(0), k.Name+" had not been granted before"
	if last != nil {
		sinceNS, since = last.DoneNS, fmt.Sprintf("%s had been granted last at %s, to %s", k.Name, history.Moment(last.DoneNS), last.Client)
	}
	f, latest, faults := lastFault(m, sinceNS, beforeNS)
	if f == nil {
		return model.Unexplained
	}
	role := roleInWait(m, f)
	for _, of := range m.Faults {
		if of.EffectiveNS != 0 && of.EffectiveNS <= beforeNS && of.GoneNS(m.EndNS) >= sinceNS && last != nil && of.Target == last.Client && last.MayLastAt(max(of.EffectiveNS, last.DoneNS)) {
			f, role, faults = of, "holder", 1 // it is named for whom it hit, however many came after it
		}
	}
	text := "it coincides with " + faultSpan(m, f, role)
	if faults > 1 {
		which := "the last"
		if f != latest {
			which = "one"
		}
		text += fmt.Sprintf(", %s of %d faults since then", which, faults)
	}
	return model.Cause{Fault: f.Op, Kind: kindOfCause(f, role), Text: text + "; " + since}
}

// WakeUpCause names the last fault before waiters were waited for: what a library lost in it may be missing at any time after.
func WakeUpCause(m *model.Model, hung []*model.Hold, fromNS int64) model.Cause {
	f, latest, _ := lastFault(m, 0, fromNS)
	if f == nil {
		return model.Unexplained
	}
	last := "fault"
	if f != latest {
		last = "fault of a server"
	}
	over, waited := f.OverNS(m.EndNS), 0
	if f.Momentary {
		over = f.EffectiveNS
	}
	for _, w := range hung {
		if w.InvokeNS < over {
			waited++
		}
	}
	role := roleInWait(m, f)
	return model.Cause{Fault: f.Op, Kind: kindOfCause(f, role),
		Text: fmt.Sprintf("the last %s before was %s: %d of %s asked before that ended", last, faultSpan(m, f, role), waited, history.Counted(int64(len(hung)), "waiter", "waiters"))}
}

// lastFault is the fault in effect in a stretch that was over last, of a server if there was one: what waiters and their service lose is not
// lost by a client that did not hold the lock. Latest is the last of all, and n how many there were.
func lastFault(m *model.Model, fromNS, toNS int64) (last, latest *model.Fault, n int) {
	for _, f := range m.Faults {
		if f.EffectiveNS == 0 || f.EffectiveNS > toNS || f.GoneNS(m.EndNS) < fromNS {
			continue
		}
		n++
		later := func(than *model.Fault) bool { return than == nil || f.GoneNS(m.EndNS) >= than.GoneNS(m.EndNS) }
		if later(latest) {
			latest = f
		}
		if last == nil || m.OfService(f) && !m.OfService(last) || m.OfService(f) == m.OfService(last) && later(last) {
			last = f
		}
	}
	return last, latest, n
}

func roleInWait(m *model.Model, f *model.Fault) string {
	if m.Clients[f.Target] != nil {
		return "client"
	}
	return cmp.Or(f.Role, "server")
}

func faultSpan(m *model.Model, f *model.Fault, role string) string {
	span := faultNamed(f, role)
	switch {
	case f.Restarted:
		return span + " by " + history.Moment(f.EffectiveNS) + ", after which it was started again at once"
	case f.Momentary:
		return span + " by " + history.Moment(f.EffectiveNS)
	}
	return span + " from " + history.Moment(f.EffectiveNS) + " to " + history.Moment(f.OverNS(m.EndNS))
}

// BoundWords hold a wait against its bound.
func BoundWords(b history.Bound) string {
	return fmt.Sprintf("more than the %s allowed (%s)", history.Duration(b.NS()), b)
}

// SetBack describes the clock that was set back.
func (s *Story) SetBack(b history.Bound) {
	if c := b.SetBack; c.ByNS > 0 {
		s.Add(c.AtNS, nil, 0, "%s was set back: a record made before may last %s longer", c.Clock(), history.Duration(c.ByNS))
	}
}
