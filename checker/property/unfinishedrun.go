package property

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A recording of a run that still goes on, or whose harness was killed, can show a violation; but what excuses one may be
// recorded later. Such a recording is judged like any other, and of its findings only those are reported that are stable:
// no line that follows can take them back. A property with findings that are not stable is inconclusive.
//
// What a line that follows can take back, rule by rule:
//
//   - R5, R10: the wall clock was set, or the machine stood still. A watchdog records both, and wakes up every few
//     milliseconds: a clock step is recorded some ticks after it happened, a stall when it is over, below lines that were
//     recorded in it. So a lease counts only up to where the watchdog was certainly awake (awakeUntil).
//   - R5: the client lost the grant, or its process ended, and it tidied up. Both are read later than they happen, and end
//     the protection where the client last confirmed its hold. So a lease counts only up to there.
//   - J2: tokens turn out not to grow. Then they never proved an order, neither for J3 nor for J5.
//   - J5: a release is answered, or a lease of the releasing client is read late. Both decide whether that release removed a
//     grant. So release-by-owner is never reported, and early-expiry only if no pending release can turn out to have
//     removed the grant.
//   - J6: proofs and leases that are read late show that a hold lasted longer. Then another pair of holds, or a single hold,
//     is the contradiction. So the holds have to be over, and a third must not be open. Refused tries are a search over the
//     whole history.
//   - J7: a hold goes on: it writes once more, or a late answer shows what it had read. Its update is another one then. So
//     the holds have to be over; longer chains of updates are the whole history's.
//   - J8: a plain write to the service fails before any client is granted the lock, or a client gets a new session. So
//     nothing is reported of liveness.
//   - J12: a slot that was recorded twice stays so: the resource's log only grows. That a slot is missed is like J8.
//   - J10: the resource handles requests of a second client in which it has something to compare, and overlaps that nothing had
//     masked are masked.
//
// Everything else stays: a grant that was read, its token and its session; a belief that was confirmed (R4); the order and
// the contents of the resource's log (J3 by time, J4, J12). New facts have later stamps than all lines before them, so nothing
// changes about evidence that is older than the last line.

// While the machine stands still the harness records nothing; when it runs again, some lines may come before the watchdog's
// (on a loaded machine up to 50 ms before it). So the watchdog was awake until WatchTick before the last line that is older
// than watchLate. Both are many times what it takes (see watchStalls in workloads).
const (
	watchLate = int64(1e9)
	WatchTick = int64(1e8)
)

// Watch says which findings are stable. Where it is nil, all are.
type Watch struct {
	awakeUntil int64 // up to here nothing can have happened that the watchdog has not recorded
	once       sync.Once
	holds      map[string]*model.Hold
	lastAsked  map[string]int64 // by client: when it last asked for a lock
}

// watched passes events on and notes until when the watchdog was certainly awake.
func (s *Watch) watched(events iter.Seq2[history.Event, error]) iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		var lately []int64
		for e, err := range events {
			lately = append(lately, e.TimeNS)
			for len(lately) > 0 && lately[0] <= e.TimeNS-watchLate {
				s.awakeUntil = lately[0] - WatchTick
				lately = lately[1:]
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Watching prepares a recording to be judged as far as it goes, if that was asked for.
func Watching(rec *model.Recording, asked bool) *Watch {
	if !asked {
		return nil
	}
	s := &Watch{}
	rec.Events = s.watched(rec.Events)
	return s
}

// of is what judges the model so far; nil where the recording was closed, so that nothing comes later.
func (s *Watch) of(m *model.Model) *Watch {
	if s == nil || m.Closed {
		return nil
	}
	return s
}

// Always is for properties of which every finding is stable.
func Always(*Judge) func(*model.Finding) bool { return func(*model.Finding) bool { return true } }

// Withhold takes the violations that are not stable out of an outcome.
func (j *Judge) Withhold(stable func(*Judge) func(*model.Finding) bool, o *Outcome) {
	if j.watch == nil || len(o.Violations) == 0 {
		return
	}
	isStable, found, reported := func(*model.Finding) bool { return false }, len(o.Violations), map[string]bool{}
	if stable != nil {
		isStable = stable(j)
	}
	o.Violations = slices.DeleteFunc(o.Violations, func(h Violation) bool {
		if h.AtNS > j.watch.awakeUntil {
			return true
		}
		f := h.Finding()
		keep := isStable(&f)
		reported[h.Key] = reported[h.Key] || keep
		return !keep
	})
	o.Windows = slices.DeleteFunc(o.Windows, func(w model.Window) bool { return !reported[w.Key] })
	if left := found - len(o.Violations); left > 0 && o.Inconclusive == "" {
		o.Inconclusive = fmt.Sprintf("%s left out, because what is recorded later may excuse it", history.Counted(int64(left), "finding", "findings"))
	}
}

// named are the holds of a finding, of which the first may be the older.
func (s *Watch) named(m *model.Model, f *model.Finding) (holds []*model.Hold) {
	s.once.Do(func() {
		s.holds, s.lastAsked = map[string]*model.Hold{}, map[string]int64{}
		for _, h := range m.Holds {
			s.holds[h.ID], s.lastAsked[h.Client] = h, h.InvokeNS
		}
	})
	for _, id := range f.Holds {
		holds = append(holds, s.holds[id])
	}
	return holds
}

// over reports whether a hold's client has gone on to another, or has ended, and every operation under it was answered.
func (j *Judge) over(h *model.Hold) bool {
	return (h.ExitNS != 0 || j.watch.lastAsked[h.Client] > h.InvokeNS) && !isUnanswered(h)
}

func isUnanswered(h *model.Hold) bool {
	return slices.ContainsFunc(h.Attempts, func(a *model.Attempt) bool { return a.DoneNS == 0 }) ||
		slices.ContainsFunc(h.Accesses, func(a *model.Access) bool { return a.DoneNS == 0 })
}
