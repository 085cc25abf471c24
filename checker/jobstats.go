package checker

import "lockcheck/checker/history"

// jobStats counts what became of the schedule; nil where the run had none, or it is not known.
func (j *judge) jobStats() *JobStats {
	if !j.m.Plan.Jobs() || j.m.Plan.Excerpt != nil || j.m.untrusted() != "" { // a part of a schedule counts for nothing
		return nil
	}
	var s JobStats
	load, end := j.m.phase(history.PhaseLoad)
	for _, k := range j.keys {
		due := j.m.Plan.SlotsDue(load, end)
		s.Due += due
		times := map[int64]int{} // by slot: how often it was recorded
		for _, h := range k.acquires {
			for _, a := range h.Accesses {
				slot, _ := history.RecordedSlot(a.Value)
				switch {
				case a.F != history.Write || a.handled == 0:
				case a.deduplicated:
					s.Deduplicated++
				case !a.applied:
					s.Rejected++
				default:
					switch times[slot]++; {
					case times[slot] == 2:
						s.Doubled++
					case times[slot] == 1 && slot > due: // a hold granted in the load may run a slot that falls due after it
						s.Due++
					}
					if j.m.markedOnly(a) {
						s.MarkedOnly++
					}
				}
			}
		}
		s.Recorded += int64(len(times))
	}
	return &s
}

// markedOnly reports whether the client that recorded a slot before its work ended, unasked, before the work was over: it begins once the
// record was answered, and is never begun where that was not.
func (m *Model) markedOnly(a *Access) bool {
	execution, _ := history.ExecutionNamed(m.Plan.Execution)
	c := m.Clients[a.Hold.Client]
	ended := c.ExitNS != 0 && (c.CloseNS == 0 || c.CloseNS > c.ExitNS)
	return execution.MarksFirst && ended && (a.Outcome != history.OK || c.ExitNS < a.DoneNS+a.workNS)
}

// recorders counts the clients of which a record was applied, and the slots that were recorded.
func (j *judge) recorders() (clients, slots int64) {
	recorded := make([]bool, len(j.m.Clients))
	for _, k := range j.keys {
		taken := map[int64]bool{}
		for _, h := range k.acquires {
			for _, a := range h.Accesses {
				if a.F != history.Write || !a.applied {
					continue
				}
				if slot, _ := history.RecordedSlot(a.Value); !taken[slot] {
					taken[slot] = true
					slots++
				}
				if !recorded[h.client] {
					recorded[h.client] = true
					clients++
				}
			}
		}
	}
	return clients, slots
}
