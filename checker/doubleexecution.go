package checker

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
)

// noSchedule is why the properties of jobs do not apply to a run without any.
const noSchedule = "the run had no schedule of jobs (workload jobs)"

// doubleExecution is the first half of J12: two requests that record one slot of one key were both applied. The resource's log alone
// proves it, without any clock. What was rejected is none. Where all that came second was answered as the first record was, because the
// resource takes slots as idempotency keys, they are told as masked.
//
// It keeps the first record of each slot, which a later one of the same slot can always go against.
func (j *judge) doubleExecution() outcome {
	if !j.m.Plan.Jobs() {
		return outcome{notApplicable: noSchedule}
	}
	o := outcome{inconclusive: j.m.untrusted()}
	if o.inconclusive != "" {
		return o
	}
	var masked []hit
	for _, k := range j.keys {
		log := newLedger(j.m.Plan.Excerpt.Before(k.name))
		for _, w := range k.handled {
			if w.F != history.Write {
				continue
			}
			slot, ok := history.RecordedSlot(w.Value)
			if !ok || slot == 0 {
				o.defect = defectf("request %d (seq %d) writes %q to %s, which records no slot of a job", w.Op, w.Seq(), w.Value, k.name)
				return o
			}
			if d, again := log.take(w, slot); again {
				old, _ := j.older(k, d.broke.Hold, d.broken.Hold)
				o.hits = append(o.hits, hit{k.name, w.handledNS, old.ID, func() Finding { return j.doubleFinding(k, d) }})
			}
		}
		for _, d := range log.deduplicated(k) {
			old, _ := j.older(k, d.second.Hold, d.first.Hold)
			masked = append(masked, hit{k.name, d.second.handledNS, old.ID, func() Finding { return j.doubleFinding(k, d) }})
		}
	}
	if len(o.hits) == 0 && len(masked) > 0 {
		o.hits, o.masked = masked, "jobs were run twice, and the resource answered the second record of each slot as the first"
	}
	return o
}

// deduplicated are the records that the resource answered as the first of their slot.
func (l *ledger) deduplicated(k *keyView) (all []double) {
	for _, h := range k.acquires {
		for _, a := range h.Accesses {
			slot, _ := history.RecordedSlot(a.Value)
			if first := l.records[slot]; a.deduplicated && first != nil && first.handled < a.handled {
				all = append(all, double{slot: slot, first: first, second: a, broke: a, broken: first})
			}
		}
	}
	return all
}

// double is a slot that was recorded a second time.
type double struct {
	slot          int64
	first, second *Access
	// broke is the write that led to it, and broken what it overwrote: the second record itself, or an earlier one that set the
	// key back, so that the slots after it were run again.
	broke, broken *Access
}

// ledger is what the resource has recorded of a key so far.
type ledger struct {
	records map[int64]*Access // the first of each slot
	latest  map[int64]*Access // the last of each
	slot    int64             // that the resource says
	current *Access           // the last record; nil at the beginning
	setBack []setBack         // those that the key has not passed again since, of ever fewer slots
}

// setBack is a write after which a key said fewer slots than before.
type setBack struct {
	from, to      int64
	by, overwrote *Access
}

func newLedger(slot int64) *ledger {
	return &ledger{records: map[int64]*Access{}, latest: map[int64]*Access{}, slot: slot}
}

// take adds a record, and returns what it doubles.
func (l *ledger) take(w *Access, slot int64) (d double, again bool) {
	before := l.latest[slot] // a slot that was run a third time was run before by the hold that ran it the second time
	if again = before != nil; again {
		d = double{slot: slot, first: before, second: w, broke: w, broken: before}
		if at := l.lostAt(slot); at >= 0 {
			d.broke, d.broken = l.setBack[at].by, l.setBack[at].overwrote
		}
	} else {
		l.records[slot] = w
	}
	l.latest[slot] = w
	if slot < l.slot && l.current != nil {
		l.passed(l.slot)
		l.setBack = append(l.setBack, setBack{l.slot, slot, w, l.current})
	} else {
		l.passed(slot)
	}
	l.slot, l.current = slot, w
	return d, again
}

// passed forgets what matters for no slot any more that the key may still be lacking.
func (l *ledger) passed(slot int64) {
	for n := len(l.setBack); n > 0 && l.setBack[n-1].from <= slot; n-- {
		l.setBack = l.setBack[:n-1]
	}
}

// lostAt is the last of the writes that set the key back below a slot, if it is below it now; -1 if it is not.
func (l *ledger) lostAt(slot int64) int {
	for at, s := range slices.Backward(l.setBack) {
		if l.slot < slot && s.from >= slot && s.to < slot {
			return at
		}
	}
	return -1
}

func (j *judge) doubleFinding(k *keyView, d double) Finding {
	first, second := d.first.Hold, d.second.Hold
	old, young := j.older(k, d.broke.Hold, d.broken.Hold)
	f := Finding{Key: k.name, AtNS: d.second.handledNS, Requests: []int64{d.first.Seq(), d.second.Seq()}}
	f.FromNS, f.ToNS = min(old.DoneNS, young.DoneNS, first.DoneNS, second.DoneNS), max(d.second.handledNS, young.DoneNS)
	words, _ := history.ExecutionNamed(j.m.Plan.Execution)
	f.Summary = fmt.Sprintf("slot %d of %s %s: %s recorded it at %s, and %s once more at %s", d.slot, k.name, words.Twice,
		first.Client, history.Moment(d.first.handledNS), second.Client, history.Moment(d.second.handledNS))
	if d.second.deduplicated {
		f.Summary += ", which did nothing"
	}
	f.Cause = j.cause(old, young, f.AtNS)
	s := j.story(&f, old, young)
	for _, a := range []*Access{d.first, d.second} {
		if !slices.Contains(f.Holds, a.Hold.ID) {
			f.Holds = append(f.Holds, a.Hold.ID)
		}
	}
	s.accessedAs(d.first, recordWords(d.slot, d.first, words.Once, words.MarksFirst))
	if d.broke != d.second {
		back, _ := history.RecordedSlot(d.broke.Value)
		s.accessed(d.broken)
		s.accessedAs(d.broke, fmt.Sprintf("%s says slot %d again, so what came after it is run once more", k.name, back))
	}
	s.accessedAs(d.second, recordWords(d.slot, d.second, words.Again, words.MarksFirst))
	s.finish()
	return f
}

// recordWords are what a record says of its slot. A client that marks first begins its work once the mark was answered: of one that was
// not, the log proves the mark alone.
func recordWords(slot int64, record *Access, said string, marksFirst bool) string {
	if marksFirst && record.Outcome != history.OK {
		said, _, _ = strings.Cut(said, ",")
		said += ", which was not answered: its client does not begin the work"
	}
	return fmt.Sprintf("slot %d %s", slot, said)
}
