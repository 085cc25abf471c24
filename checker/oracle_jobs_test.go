package checker

import (
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// DoubleExecution is J12 by looking, for every record, at all before it.
func (o *oracle) doubleExecution() map[string]bool {
	found := map[string]bool{}
	for n, w := range o.requests {
		for _, q := range o.requests[:n] {
			slot, _ := history.RecordedSlot(w.Value)
			earlier, _ := history.RecordedSlot(q.Value)
			if w.Kind == history.KindWrite && q.Kind == history.KindWrite && w.Outcome == history.Applied && q.Outcome == history.Applied &&
				w.Key == q.Key && slot == earlier {
				found[fmt.Sprintf("%s %d at %d", w.Key, slot, w.TimeNS)] = true
			}
		}
	}
	return found
}

// doubledSlots are those that the checker finds, in the same words.
func doubledSlots(j *judgement) string {
	found := map[string]bool{}
	for _, h := range harms(j.outcome(model.DoubleExecution)) {
		f := h.Finding()
		var slot int64
		fmt.Sscanf(f.Summary, "slot %d of", &slot)
		found[fmt.Sprintf("%s %d at %d", f.Key, slot, f.AtNS)] = true
	}
	return sorted(found)
}
