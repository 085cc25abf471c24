package gallery

import "lockcheck/reports/compare"

// What holds for the runs of comparisons holds for those of a gallery that pods made: that one whose harness was held up found nothing
// counts for nothing.

// Doubt makes items inconclusive that came as expected although their run found nothing and its harness was held up.
func (r *Record) Doubt() {
	for i, item := range r.Items {
		if item.Run == nil || item.Outcome != Reproduced && item.Outcome != NotReproduced {
			continue
		}
		if heldUp := item.Run.Doubt(); heldUp != "" {
			r.Items[i].Outcome, r.Items[i].Reason = Inconclusive, compare.LessTested(heldUp)
		}
	}
}

// HeldUp names the runs whose harness was held up, and says what they count for.
func (r Record) HeldUp() (lines []string) {
	for _, item := range r.Items {
		if item.Run == nil {
			continue
		}
		if heldUp := item.Run.HeldUp(); heldUp != "" {
			lines = append(lines, item.Name+", "+string(item.Half)+": "+heldUp)
		}
	}
	return lines
}
