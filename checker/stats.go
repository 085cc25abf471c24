package checker

import (
	"math"
	"slices"

	"lockcheck/checker/history"
)

// counts is what stats need of single events, gathered while the history is read.
type counts struct {
	ops, ok, fail, info int64
	latency             map[history.F][]int64 // of operations that succeeded
	guarded, rejected   int64
	grants              []int64 // completions of acquires that succeeded
}

func newCounts() counts { return counts{latency: map[history.F][]int64{}} }

func (c *counts) completed(op *operation, e *history.Event) {
	c.ops++
	switch e.Type {
	case history.OK:
		c.ok++
		c.latency[e.F] = append(c.latency[e.F], e.TimeNS-op.invoked)
		if e.F == history.Acquire {
			c.grants = append(c.grants, e.TimeNS)
		}
	case history.Fail:
		c.fail++
		if e.F == history.Write && e.Code == history.CodeGuard {
			c.guarded++
		}
	default:
		c.info++
	}
}

// open counts what never completed: unknown, like info.
func (c *counts) open(ops map[int64]*operation) {
	for _, op := range ops {
		if !op.done {
			c.ops++
			c.info++
		}
	}
}

// stats puts the figures together that are reported beside the verdicts.
func (j *judge) stats(c *counts) Stats {
	m := j.m
	s := Stats{
		DurationNS: m.EndNS, Ops: c.ops, OK: c.ok, Fail: c.fail, Info: c.info, Guarded: c.guarded,
		Latency: map[string]Quantiles{}, Availability: m.availability(c.grants), Stalls: int64(len(m.Stalls)),
	}
	for f, durations := range c.latency {
		s.Latency[string(f)] = quantiles(durations)
	}
	if m.EndNS > 0 {
		s.OpsPerSecond = rounded(float64(c.ops)/(float64(m.EndNS)/1e9), 10)
	}
	for _, stall := range m.Stalls {
		s.StalledNS += stall.ToNS - stall.FromNS
	}
	for i := range m.Requests {
		if q := &m.Requests[i]; q.Kind == history.KindWrite && q.Outcome == history.Rejected {
			s.Rejected++
		}
	}
	s.LossSignal, s.TakeOver = j.lossSignal(), j.takeOver()
	s.OutlivedLeases = int64(len(m.outlived()))
	s.StaleAccepted = int64(len(j.stale()))
	if s.OutlivedLeases > 0 {
		s.StalePerOutlived = rounded(float64(s.StaleAccepted)/float64(s.OutlivedLeases), 100)
	}
	return s
}

// lossSignal is how long after another client's grant the old holder, who had not given the lock up, was told.
func (j *judge) lossSignal() Quantiles {
	var delays []int64
	for _, k := range j.keys {
		for i, h := range k.grants {
			if h.LostNS == 0 || h.ReleaseNS != 0 && h.ReleaseNS < h.LostNS {
				continue
			}
			if g := k.nextOther(i); g != nil && g.DoneNS < h.LostNS {
				delays = append(delays, h.LostNS-g.DoneNS)
			}
		}
	}
	return quantiles(delays)
}

// takeOver is how long after a holder died or was paused another client was granted its lock.
func (j *judge) takeOver() Quantiles {
	paused := map[string]int64{}
	for _, f := range j.m.Faults {
		for _, h := range j.m.heldBy(f) {
			if paused[h.ID] == 0 {
				paused[h.ID] = f.EffectiveNS
			}
		}
	}
	var delays []int64
	for _, k := range j.keys {
		for i, h := range k.grants {
			from := paused[h.ID]
			if from == 0 && h.ReleaseNS == 0 && j.m.Clients[h.Client].CloseNS == 0 {
				from = h.ExitNS
			}
			if g := k.nextOther(i); from != 0 && g != nil && g.DoneNS > from {
				delays = append(delays, g.DoneNS-from)
			}
		}
	}
	return quantiles(delays)
}

// availability is the share of the load phase's seconds in which an acquire succeeded or nobody was asking. The last
// second counts as the part of it that there was.
func (m *Model) availability(grants []int64) float64 {
	from, to := m.phase(history.PhaseLoad)
	const window = int64(1e9)
	if to <= from {
		return 1
	}
	n := (to - from + window - 1) / window
	granted, asking := make([]bool, n), make([]int64, n+1)
	for _, t := range grants {
		if t >= from && t < to {
			granted[(t-from)/window] = true
		}
	}
	for _, h := range m.Holds {
		until := h.DoneNS
		if h.Outcome == history.Invoke {
			until = m.EndNS
			if h.ExitNS != 0 {
				until = h.ExitNS
			}
		}
		a, b := max(h.InvokeNS, from), min(until, to-1)
		if a <= b {
			asking[(a-from)/window]++
			asking[(b-from)/window+1]--
		}
	}
	good, waiting := int64(0), int64(0)
	for i := range n {
		waiting += asking[i]
		if granted[i] || waiting == 0 {
			good += min(window, to-from-i*window)
		}
	}
	return rounded(float64(good)/float64(to-from), 10000)
}

// phase is where a phase of the run begins and ends; zeros if it never began.
func (m *Model) phase(name string) (from, to int64) {
	for i, p := range m.Phases {
		if p.Value != name {
			continue
		}
		if i+1 < len(m.Phases) {
			return p.TimeNS, m.Phases[i+1].TimeNS
		}
		return p.TimeNS, m.EndNS
	}
	return 0, 0
}

// quantiles sorts in place. A quantile is the smallest value that so many are no greater than.
func quantiles(durations []int64) Quantiles {
	n := len(durations)
	if n == 0 {
		return Quantiles{}
	}
	slices.Sort(durations)
	at := func(p int) int64 { return durations[(n*p+99)/100-1] }
	return Quantiles{Count: int64(n), P50NS: at(50), P95NS: at(95), P99NS: at(99), MaxNS: durations[n-1]}
}

func rounded(x float64, unit float64) float64 { return math.Round(x*unit) / unit }
