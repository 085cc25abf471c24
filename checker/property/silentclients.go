package property

import (
	"fmt"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// beyondSilences judges waits for locks without the time in which a client that waited for one, or may have held it, was silent: it may have
// hung by itself, with the lock or without. What only such time shows is not known; and what is only found without it is nothing: a part of a
// wait may have a shorter bound than the whole. Judge takes silences off, or not.
func (j *Judge) beyondSilences(judge func(silences bool) Outcome) Outcome {
	o := judge(true)
	if !j.m.AnySilent() {
		return o
	}
	accuses := func(violations []Violation, key string) bool {
		return slices.ContainsFunc(violations, func(v Violation) bool { return v.Key == key })
	}
	whole := judge(false).Violations
	o.Violations = slices.DeleteFunc(o.Violations, func(v Violation) bool { return !accuses(whole, v.Key) })
	for _, v := range whole {
		if !accuses(o.Violations, v.Key) {
			o.Inconclusive = j.silentWords(v)
			break
		}
	}
	return o
}

// silentWords is why a wait is not known to have been too long: of the silences of clients that asked for the lock, the one that has most of
// the time before it should have been granted.
func (j *Judge) silentWords(v Violation) string {
	from, client, is, most := v.AtNS-j.m.MinBoundNS(), "", model.Span{}, int64(-model.Never)
	for _, h := range j.m.KeyNamed(v.Key).Acquires {
		for _, s := range j.m.Clients[h.Client].Silent {
			if within := min(s.ToNS, v.AtNS) - max(s.FromNS, from); within > most {
				client, is, most = h.Client, s, within
			}
		}
	}
	return fmt.Sprintf("clients that waited too long for %s were silent, or waited beside a silent one: %s %s from %s to %s",
		v.Key, client, model.Unheard, history.Moment(is.FromNS), history.Moment(is.ToNS))
}

// silencesOn are those that are taken off waits for a lock, if any are.
func (j *Judge) silencesOn(k *model.Lock, silences bool) []model.Span {
	if !silences || !j.m.AnySilent() {
		return nil
	}
	return j.m.Silences(k)
}

// waitedBeside is waited between silences, and when: a silent client may have been granted the lock and have given it back, so that what counts
// begins anew after each. A part that is too long comes before all others, and then the longest.
func waitedBeside(silent []model.Span, m *model.Model, from, to int64, disturbed []model.Span) (longest model.Wait, part model.Span) {
	part = model.Span{FromNS: from, ToNS: to}
	if len(silent) == 0 {
		return m.Waited(from, to, disturbed), part
	}
	longest = m.Waited(from, to, []model.Span{part}) // nothing of it counts
	for _, s := range outside(silent, model.Span{FromNS: from, ToNS: to}) {
		w := m.Waited(s.FromNS, s.ToNS, disturbed)
		if hangs := w.TooLong(); hangs && !longest.TooLong() || hangs == longest.TooLong() && w.CountedNS > longest.CountedNS {
			longest, part = w, s
		}
	}
	return longest, part
}
