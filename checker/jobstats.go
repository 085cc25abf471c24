package checker

import "lockcheck/checker/history"

// jobStats counts what became of the schedule; nil where the run had none.
func (j *judge) jobStats() *JobStats {
	if !j.m.Plan.Jobs() || j.m.Plan.Excerpt != nil { // a part of a schedule counts for nothing
		return nil
	}
	var s JobStats
	load, end := j.m.phase(history.PhaseLoad)
	for _, k := range j.keys {
		due := j.m.Plan.SlotsDue(load, end)
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
					if times[slot]++; times[slot] == 2 {
						s.Doubled++
					}
					due = max(due, slot) // a hold that began in the load may run what is due when that is over
					if j.m.markedOnly(a) {
						s.MarkedOnly++
					}
				}
			}
		}
		s.Due += due
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
		log := newLedger(0)
		for _, a := range k.handled {
			if a.F != history.Write {
				continue
			}
			slot, _ := history.RecordedSlot(a.Value)
			if _, again := log.take(a, slot); !again {
				slots++
			}
			if client := a.Hold.client; !recorded[client] {
				recorded[client] = true
				clients++
			}
		}
	}
	return clients, slots
}
