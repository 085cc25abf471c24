// Package figures counts what is reported beside the verdicts: what the run was exposed to, and its statistics.
// The rules that comments cite by number are in checker/RULES.md.
package figures

import (
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Stats puts the figures together that are reported beside the verdicts, and in the model how they changed over time. Superseded are the holds
// under which stale writes were applied, one for each.
func Stats(m *model.Model, c *model.Counts, superseded []*model.Hold) model.Stats {
	s := model.Stats{
		DurationNS: m.EndNS, Ops: c.Invoked, OK: c.OK, Fail: c.Fail, Info: c.Unknown(), Guarded: c.Guarded, Unanswered: c.Unanswered, Rejected: m.Rejected,
		Latency: c.Quantiles, Stalls: int64(len(m.Stalls)),
	}
	if m.EndNS > 0 {
		s.OpsPerSecond = model.Rounded(float64(c.Invoked)/(float64(m.EndNS)/1e9), 10)
	}
	s.ClientDeaths, s.EndedServers = int64(len(m.Deaths())), m.EndedServers
	s.ClockSteps, s.ClockSteppedNS = int64(len(m.Steps)), stepped(m, 0, m.EndNS)
	for _, stall := range m.Stalls {
		s.StalledNS += stall.ToNS - stall.FromNS
	}
	s.ThrottledNS = m.ThrottledNS
	var lossSignals, takeOvers []model.Delay
	model.RunParallel([]func(){
		func() { s.Availability = availability(m, m.FreeWhileWanted().Long, c.Series.Available) },
		func() { lossSignals, takeOvers = lossSignalsOf(m), takeOversOf(m) },
		func() { s.Starved = starvation(m) },
		func() { s.AttemptsPerGrant, s.Overtakes = attemptsPerGrant(m), overtakes(m) },
	})
	s.LossSignal, s.TakeOver = model.QuantilesOf(delaysOf(lossSignals)), model.QuantilesOf(delaysOf(takeOvers))
	m.Series = c.Series.Series()
	m.Series.LossSignals, m.Series.TakeOvers = model.LongestDelays(lossSignals, m.EndNS), model.LongestDelays(takeOvers, m.EndNS)
	s.FreeWanted, s.WithoutAnswer = m.FreeWhileWanted().FreeWanted, unanswered(m)
	s.OddClients = oddClients(m)
	s.Jobs = jobStats(m)
	outlived := outlived(m)
	s.OutlivedLeases = int64(len(outlived))
	s.StaleAccepted = int64(len(superseded))
	hit := map[*model.Hold]bool{}
	for _, f := range outlived {
		for _, h := range m.HeldBy(f) {
			hit[h] = true
		}
	}
	for _, old := range superseded { // two holders at once may write in turn for as long as they please: that is not what a fault's end let through
		if hit[old] {
			s.StaleOutlived++
		}
	}
	if s.OutlivedLeases > 0 {
		s.StalePerOutlived = model.Rounded(float64(s.StaleOutlived)/float64(s.OutlivedLeases), 100)
	}
	return s
}

// lossSignalsOf are how long after another client's grant each old holder, who had not given the lock up, was told.
func lossSignalsOf(m *model.Model) (delays []model.Delay) {
	for _, k := range m.Locks {
		for i, h := range k.Grants {
			if h.LostNS == 0 || h.ReleaseNS != 0 && h.ReleaseNS < h.LostNS {
				continue
			}
			if g := nextOther(k, i); g != nil && g.DoneNS < h.LostNS {
				delays = append(delays, model.Delay{FromNS: g.DoneNS, DelayNS: h.LostNS - g.DoneNS, Hold: h.ID, Client: h.Client, Next: g.Client, Key: h.Key})
			}
		}
	}
	return delays
}

// takeOversOf are how long after each holder's death, or a fault that hit it, another client was granted its lock. One that
// handed its lock on itself in the meantime was not taken over from.
func takeOversOf(m *model.Model) (delays []model.Delay) {
	hit := map[string]*model.Fault{}
	for _, f := range m.Faults {
		for _, h := range m.HeldBy(f) {
			if hit[h.ID] == nil {
				hit[h.ID] = f
			}
		}
	}
	for _, k := range m.Locks {
		for i, h := range k.Grants {
			from, after := int64(0), ""
			if f := hit[h.ID]; f != nil {
				from, after = f.EffectiveNS, f.Words().One
			} else if h.ReleaseNS == 0 && m.Clients[h.Client].CloseNS == 0 {
				from, after = h.ExitNS, model.AfterDeath
			}
			if g := nextOther(k, i); from != 0 && g != nil && g.DoneNS > from && !h.HandedOnBefore(g) {
				delays = append(delays, model.Delay{FromNS: from, DelayNS: g.DoneNS - from, Hold: h.ID, Client: h.Client, Next: g.Client, Key: h.Key, After: after})
			}
		}
	}
	return delays
}

// maxWindows bounds the memory that a recording can ask for by the stamps in it alone.
const maxWindows = 1 << 20

// availability is the share of the load phase's seconds in which an acquire succeeded, or no client was asking: none for a lock whose holder
// did the work of a second or more that it was asked for. The last second counts as the part of it that there was. What a lock hung of them,
// free although it was wanted, is taken off. It calls report for each second, with whether it was one of them.
func availability(m *model.Model, hung []model.Span, report func(from, to int64, good bool)) float64 {
	from, to := m.Phase(history.PhaseLoad)
	if to <= from {
		return 1
	}
	window := max(1e9, (to-from)/maxWindows) // longer in a recording longer than any run
	n := (to - from + window - 1) / window
	granted, asking := make([]bool, n), make([]int64, n+1)
	for _, k := range m.Locks {
		works := longWorks(k, window)
		for _, h := range k.Acquires {
			if h.Outcome == history.OK && h.DoneNS >= from && h.DoneNS < to {
				granted[(h.DoneNS-from)/window] = true
			}
			until := h.DoneNS
			if h.Outcome == history.Invoke {
				until = m.EndNS
				if h.ExitNS != 0 {
					until = h.ExitNS
				}
			}
			a, b := max(h.InvokeNS, from), min(until, to-1)
			if a > b {
				continue
			}
			first, end := (a-from)/window, (b-from)/window+1
			asking[first]++
			asking[end]--
			for _, s := range works[model.FirstAfter(works, a, func(s model.Span) int64 { return s.ToNS }):] {
				if s.FromNS > b {
					break
				}
				left, right := max(first, (s.FromNS-from+window-1)/window), min(end, (s.ToNS-from)/window)
				if s.ToNS >= to {
					right = end // the last second is a part of one
				}
				if left < right {
					asking[left]--
					asking[right]++
				}
			}
		}
	}
	good, waiting := int64(0), int64(0)
	for i := range n {
		waiting += asking[i]
		begin := from + i*window
		end := min(begin+window, to)
		available := granted[i] || waiting == 0
		if available {
			free := model.Within(hung, begin, end)
			good += end - begin - free
			available = free < end-begin
		}
		report(begin, end, available)
	}
	return model.Rounded(float64(good)/float64(to-from), 10000)
}

// longWorks is when holders of a lock that believed in their hold did the work that they were asked for, of those who were asked for so much
// that no other client can have been granted the lock for the whole of a second.
func longWorks(k *model.Lock, window int64) (spans []model.Span) {
	for _, h := range k.Grants {
		from := max(h.DoneNS, 0)
		for _, a := range h.Accesses {
			if until := min(a.InvokeNS+a.WorkNS, h.BelievedNS); a.WorkNS >= window && until > from {
				spans = append(spans, model.Span{FromNS: from, ToNS: until})
			}
		}
	}
	return model.Merged(spans)
}

// nextOther is the first grant after the i-th that went to another client.
func nextOther(k *model.Lock, i int) *model.Hold {
	for _, g := range k.Grants[i+1:] {
		if g.Client != k.Grants[i].Client {
			return g
		}
	}
	return nil
}

// stepped is by how much the wall clock was set in [from, to], forward or back, all told.
func stepped(m *model.Model, from, to int64) int64 {
	sum := int64(0)
	for _, s := range m.Steps {
		if s.ToNS >= from && s.FromNS <= to {
			sum = min(sum+max(s.ByNS, -s.ByNS), history.MaxNS) // no run is longer
		}
	}
	return sum
}

func delaysOf(delays []model.Delay) []int64 {
	ns := make([]int64, len(delays))
	for i, d := range delays {
		ns[i] = d.DelayNS
	}
	return ns
}
