package figures

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// jobStats counts what became of the schedule; nil where the run had none, or it is not known.
func jobStats(m *model.Model) *model.JobStats {
	if !m.Plan.Jobs() || m.Plan.Excerpt != nil || m.Untrusted() != "" { // a part of a schedule counts for nothing
		return nil
	}
	var s model.JobStats
	load, end := m.Phase(history.PhaseLoad)
	for _, k := range m.Locks {
		due := m.Plan.SlotsDue(load, end)
		s.Due += due
		times := map[int64]int{} // by slot: how often it was recorded
		for _, h := range k.Acquires {
			for _, a := range h.Accesses {
				slot, _ := history.RecordedSlot(a.Value)
				switch {
				case a.F != history.Write || a.Handled == 0:
				case a.Deduplicated:
					s.Deduplicated++
				case !a.Applied:
					s.Rejected++
				default:
					switch times[slot]++; {
					case times[slot] == 2:
						s.Doubled++
					case times[slot] == 1 && slot > due: // a hold granted in the load may run a slot that falls due after it
						s.Due++
					}
					if markedOnly(m, a) {
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
func markedOnly(m *model.Model, a *model.Access) bool {
	execution, _ := history.ExecutionNamed(m.Plan.Execution)
	c := m.Clients[a.Hold.Client]
	ended := c.ExitNS != 0 && (c.CloseNS == 0 || c.CloseNS > c.ExitNS)
	return execution.MarksFirst && ended && (a.Outcome != history.OK || c.ExitNS < a.DoneNS+a.WorkNS)
}

// Recorders counts the clients of which a record was applied, and the slots that were recorded.
func Recorders(m *model.Model) (clients, slots int64) {
	recorded := make([]bool, len(m.Clients))
	for _, k := range m.Locks {
		taken := map[int64]bool{}
		for _, h := range k.Acquires {
			for _, a := range h.Accesses {
				if a.F != history.Write || !a.Applied {
					continue
				}
				if slot, _ := history.RecordedSlot(a.Value); !taken[slot] {
					taken[slot] = true
					slots++
				}
				if !recorded[h.ClientNumber] {
					recorded[h.ClientNumber] = true
					clients++
				}
			}
		}
	}
	return clients, slots
}
