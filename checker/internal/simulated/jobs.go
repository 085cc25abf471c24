package simulated

import (
	"fmt"
	"maps"
	"slices"

	"lockcheck/checker/history"
)

// slotNS is how far the slots of a schedule of jobs are apart (rule J12).
const slotNS = 400 * ms

// schedule puts the world's schedule into its plan.
func (w *world) schedule() {
	if w.Jobs == "" {
		return
	}
	w.Plan.Workload, w.Plan.SlotMS, w.Plan.Execution = "jobs", slotNS/ms, w.Jobs
	if w.Plan.Resource == "" {
		w.Plan.Resource = history.ResourcePlain
	}
}

// awaitSlot waits until a slot is due that a client does not know to be recorded.
func (w *world) awaitSlot(t *task, c *client, key string) {
	for w.loading && !c.dead && w.Now < w.Plan.DueNS(w.loadNS, c.recorded[key]+1) {
		t.Sleep(20*ms + w.up(20*ms))
	}
}

// job is the work of one hold: it reads which slot was recorded last, and runs the next one if it is due. It answers with what was of
// unknown outcome, if anything was.
func (w *world) job(t *task, h *hold, do func(history.Event, history.Request) history.Event) (unknown history.Event) {
	c := h.c
	read := do(history.Event{F: history.Read}, history.Request{Kind: history.KindRead})
	if read.Type != history.OK {
		return read
	}
	last, _ := history.RecordedSlot(read.Value)
	c.recorded[h.key] = last
	if w.Now < w.Plan.DueNS(w.loadNS, last+1) || c.dead {
		return history.Event{}
	}
	execution, _ := history.ExecutionNamed(w.Jobs)
	work := w.up(80 * ms)
	before := work
	if execution.MarksFirst {
		before = 0
	}
	write := history.Event{F: history.Write, Value: history.JobRecord(last+1, fmt.Sprint("v", w.lastOp+1)), Base: read.Value, WorkNS: before}
	answer := do(write, history.Request{Kind: history.KindWrite, Value: write.Value, Base: write.Base})
	if answer.Type == history.OK {
		c.recorded[h.key] = last + 1
		t.Sleep(work - before)
	}
	return answer
}

// deduplicates gives the first record of the slot that a request records, if a keyed resource has one and so answers it as that; else nil.
func (s *resource) deduplicates(q *history.Request, h *hold) *history.Request {
	slot, _ := history.RecordedSlot(q.Value)
	if q.Kind != history.KindWrite || !s.w.Plan.Keyed() || s.w.Defect == KeyIgnored {
		return nil
	}
	known := s.applied[h.key]
	if s.w.flawed(CheckThenKey, 0.5) {
		known = known[:max(len(known)-1, 0)] // as they were when the key was looked for
	}
	if s.w.Defect == OneKeySpace {
		for _, key := range slices.Sorted(maps.Keys(s.applied)) {
			known = append(slices.Clip(known), s.applied[key]...)
		}
	}
	at := slices.IndexFunc(known, func(written *history.Request) bool {
		earlier, _ := history.RecordedSlot(written.Value)
		return earlier == slot
	})
	if at < 0 || s.w.flawed(KeysForgotten, 0.5) {
		return nil
	}
	return known[at]
}
