package checker

import "lockcheck/checker/history"

// jobStats counts what became of the schedule; nil where the run had none.
func (j *judge) jobStats() *JobStats {
	if !j.m.Plan.Jobs() || j.m.Plan.Excerpt != nil { // a part of a schedule counts for nothing
		return nil
	}
	var s JobStats
	load, end := j.m.phase(history.PhaseLoad)
	lastAsked := make([]int64, len(j.m.Clients))
	for _, h := range j.m.Holds {
		lastAsked[h.client] = h.InvokeNS
	}
	for _, k := range j.keys {
		s.Due += j.m.Plan.SlotsDue(load, end)
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
					if j.m.markedOnly(h) && lastAsked[h.client] == h.InvokeNS {
						s.MarkedOnly++
					}
				}
			}
		}
		s.Recorded += int64(len(times))
	}
	return &s
}

// markedOnly reports whether the client of a hold under which a slot was recorded before its work ended, unasked, before the harness,
// which waits for the work, had the lock released. One that was told of its loss may go on without a release, and asks again.
func (m *Model) markedOnly(h *Hold) bool {
	execution, _ := history.ExecutionNamed(m.Plan.Execution)
	c := m.Clients[h.Client]
	return execution.MarksFirst && h.ExitNS != 0 && h.ReleaseNS == 0 && (c.CloseNS == 0 || c.CloseNS > h.ExitNS)
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
