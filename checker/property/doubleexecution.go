package property

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// noSchedule is why the properties of jobs do not apply to a run without any.
const noSchedule = "the run had no schedule of jobs (workload jobs)"

// DoubleExecution is the first half of rule J12: two requests that record one slot of one key were both applied. The resource's log alone
// proves it, without any clock. What was rejected is none. Where all that came second was answered as the first record was, because the
// resource takes slots as idempotency keys, they are told as masked.
//
// It keeps the first record of each slot, which a later one of the same slot can always go against.
func (j *Judge) DoubleExecution() Outcome {
	if !j.m.Plan.Jobs() {
		return Outcome{NotApplicable: noSchedule}
	}
	o := Outcome{Inconclusive: j.m.Untrusted()}
	if o.Inconclusive != "" {
		return o
	}
	var masked []Violation
	for _, k := range j.keys {
		log := newLedger(j.m.Plan.Excerpt.Before(k.Name))
		for _, w := range k.Handled {
			if w.F != history.Write {
				continue
			}
			slot, ok := history.RecordedSlot(w.Value)
			if !ok || slot == 0 {
				o.Defect = model.Defectf("request %d (seq %d) writes %q to %s, which records no slot of a job", w.Op, w.Seq(), w.Value, k.Name)
				return o
			}
			if d, again := log.take(w, slot); again {
				old, _ := j.m.Older(k, d.broke.Hold, d.broken.Hold)
				o.add(k.Name, w.HandledNS, old.ID, func() model.Finding { return j.doubleFinding(k, d) })
			}
		}
		for _, d := range log.deduplicated(k) {
			old, _ := j.m.Older(k, d.second.Hold, d.first.Hold)
			masked = append(masked, Violation{k.Name, d.second.HandledNS, old.ID, func() model.Finding { return j.doubleFinding(k, d) }})
		}
	}
	if len(o.Violations) == 0 && len(masked) > 0 {
		o.Violations, o.Masked = masked, "jobs were run twice, and the resource answered the second record of each slot as the first"
	}
	return o
}

// deduplicated are the records that the resource answered as the first of their slot.
func (l *ledger) deduplicated(k *model.Lock) (all []double) {
	for _, h := range k.Acquires {
		for _, a := range h.Accesses {
			slot, _ := history.RecordedSlot(a.Value)
			if first := l.records[slot]; a.Deduplicated && first != nil && first.Handled < a.Handled {
				all = append(all, double{slot: slot, first: first, second: a, broke: a, broken: first})
			}
		}
	}
	return all
}

// double is a slot that was recorded a second time.
type double struct {
	slot          int64
	first, second *model.Access
	// broke is the write that led to it, and broken what it overwrote: the second record itself, or an earlier one that set the
	// key back, so that the slots after it were run again.
	broke, broken *model.Access
}

// ledger is what the resource has recorded of a key so far.
type ledger struct {
	records map[int64]*model.Access // the first of each slot
	latest  map[int64]*model.Access // the last of each
	slot    int64                   // that the resource says
	current *model.Access           // the last record; nil at the beginning
	setBack []setBack               // those that the key has not passed again since, of ever fewer slots
}

// setBack is a write after which a key said fewer slots than before.
type setBack struct {
	from, to      int64
	by, overwrote *model.Access
}

func newLedger(slot int64) *ledger {
	return &ledger{records: map[int64]*model.Access{}, latest: map[int64]*model.Access{}, slot: slot}
}

// take adds a record, and returns what it doubles.
func (l *ledger) take(w *model.Access, slot int64) (d double, again bool) {
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

func (j *Judge) doubleFinding(k *model.Lock, d double) model.Finding {
	first, second := d.first.Hold, d.second.Hold
	old, young := j.m.Older(k, d.broke.Hold, d.broken.Hold)
	f := model.Finding{Key: k.Name, AtNS: d.second.HandledNS, Requests: []int64{d.first.Seq(), d.second.Seq()}}
	f.FromNS, f.ToNS = min(old.DoneNS, young.DoneNS, first.DoneNS, second.DoneNS), max(d.second.HandledNS, young.DoneNS)
	words, _ := history.ExecutionNamed(j.m.Plan.Execution)
	f.Summary = fmt.Sprintf("slot %d of %s %s: %s recorded it at %s, and %s once more at %s", d.slot, k.Name, words.Twice,
		first.Client, history.Moment(d.first.HandledNS), second.Client, history.Moment(d.second.HandledNS))
	if d.second.Deduplicated {
		f.Summary += ", which did nothing"
	}
	f.Cause = explain.LossCause(j.m, old, young, f.AtNS)
	s := explain.NewStory(j.m, &f, old, young)
	for _, a := range []*model.Access{d.first, d.second} {
		if !slices.Contains(f.Holds, a.Hold.ID) {
			f.Holds = append(f.Holds, a.Hold.ID)
		}
	}
	s.AccessedAs(d.first, recordWords(d.slot, d.first, words.Once, words.MarksFirst))
	if d.broke != d.second {
		back, _ := history.RecordedSlot(d.broke.Value)
		s.Accessed(d.broken)
		s.AccessedAs(d.broke, fmt.Sprintf("%s says slot %d again, so what came after it is run once more", k.Name, back))
	}
	s.AccessedAs(d.second, recordWords(d.slot, d.second, words.Again, words.MarksFirst))
	s.Finish()
	return f
}

// recordWords are what a record says of its slot. A client that marks first begins its work once the mark was answered: of one that was
// not, the log proves the mark alone.
func recordWords(slot int64, record *model.Access, said string, marksFirst bool) string {
	if marksFirst && record.Outcome != history.OK {
		said, _, _ = strings.Cut(said, ",")
		said += ", which was not answered: its client does not begin the work"
	}
	return fmt.Sprintf("slot %d %s", slot, said)
}

// RecordsTested says what a pass lacks: a slot is run twice only where one is recorded.
func (j *Judge) RecordsTested() string {
	if j.some(func(k *model.Lock) bool {
		return slices.ContainsFunc(k.Acquires, func(h *model.Hold) bool {
			return slices.ContainsFunc(h.Accesses, func(a *model.Access) bool { return a.F == history.Write && a.Handled != 0 })
		})
	}) {
		return ""
	}
	return "the resource handled no record of a slot"
}
