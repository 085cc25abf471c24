package checker

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"lockcheck/checker/history"
)

// counts is what stats need of single events, gathered while the history is read.
type counts struct {
	invoked, ok, fail, info int64
	latency                 map[history.F]*durations // of operations that succeeded
	quantiles               map[string]Quantiles     // of those, once all are known
	guarded, unanswered     int64
	series                  seriesCounts
}

// summarize leaves only quantiles of the latencies.
func (c *counts) summarize() {
	var mutex sync.Mutex
	c.quantiles = map[string]Quantiles{}
	var tasks []func()
	for f, durations := range c.latency {
		tasks = append(tasks, func() {
			q := quantiles(durations.all())
			mutex.Lock()
			defer mutex.Unlock()
			c.quantiles[string(f)] = q
		})
	}
	runParallel(tasks)
	c.latency = nil
}

// durations are kept in blocks: there are as many as operations.
type durations struct {
	full [][]int64
	last []int64
}

const largestDurations = 1 << 13

func (d *durations) add(ns int64) {
	if len(d.last) == cap(d.last) {
		d.full = append(d.full, d.last)
		d.last = make([]int64, 0, max(smallestBlock, min(2*cap(d.last), largestDurations)))
	}
	d.last = append(d.last, ns)
}

func (d *durations) all() []int64 { return slices.Concat(append(d.full, d.last)...) }

func (c *counts) completed(invokeNS int64, e *history.Event) {
	c.series.completed(invokeNS, e)
	switch e.Type {
	case history.OK:
		c.ok++
		d := c.latency[e.F]
		if d == nil {
			if c.latency == nil {
				c.latency = map[history.F]*durations{}
			}
			d = &durations{}
			c.latency[e.F] = d
		}
		d.add(e.TimeNS - invokeNS)
	case history.Fail:
		c.fail++
		if e.F == history.Write && history.HeldBack(e.Code) {
			c.guarded++
		}
		if e.F == history.Write && e.Code == history.CodeUnanswered {
			c.unanswered++
		}
	default:
		c.info++
	}
}

// unknown is how many operations have no known outcome: answered so, or never.
func (c *counts) unknown() int64 { return c.invoked - c.ok - c.fail }

// stats puts the figures together that are reported beside the verdicts, and in the model how they changed over time.
func (j *judge) stats(c *counts) Stats {
	m := j.m
	s := Stats{
		DurationNS: m.EndNS, Ops: c.invoked, OK: c.ok, Fail: c.fail, Info: c.unknown(), Guarded: c.guarded, Unanswered: c.unanswered, Rejected: m.rejected,
		Latency: c.quantiles, Stalls: int64(len(m.Stalls)),
	}
	if m.EndNS > 0 {
		s.OpsPerSecond = rounded(float64(c.invoked)/(float64(m.EndNS)/1e9), 10)
	}
	s.ClientDeaths, s.EndedServers = int64(len(m.deaths())), m.EndedServers
	s.ClockSteps, s.ClockSteppedNS = int64(len(m.Steps)), m.stepped(0, m.EndNS)
	for _, stall := range m.Stalls {
		s.StalledNS += stall.ToNS - stall.FromNS
	}
	s.ThrottledNS = m.throttledNS
	var lossSignals, takeOvers []Delay
	runParallel([]func(){
		func() { s.Availability = m.availability(j.freeWhileWanted().long, c.series.available) },
		func() { lossSignals, takeOvers = j.lossSignals(), j.takeOvers() },
		func() { s.Starved = j.starvation() },
		func() { s.AttemptsPerGrant, s.Overtakes = j.attemptsPerGrant(), j.overtakes() },
	})
	s.LossSignal, s.TakeOver = quantiles(delaysOf(lossSignals)), quantiles(delaysOf(takeOvers))
	m.Series = c.series.series()
	m.Series.LossSignals, m.Series.TakeOvers = kept(lossSignals, m.EndNS), kept(takeOvers, m.EndNS)
	s.FreeWanted, s.WithoutAnswer = j.freeWhileWanted().FreeWanted, j.unanswered()
	s.Jobs = j.jobStats()
	s.OutlivedLeases = int64(len(m.outlived()))
	s.StaleAccepted = int64(len(j.stale()))
	if s.OutlivedLeases > 0 {
		s.StalePerOutlived = rounded(float64(s.StaleAccepted)/float64(s.OutlivedLeases), 100)
	}
	return s
}

// lossSignals are how long after another client's grant each old holder, who had not given the lock up, was told.
func (j *judge) lossSignals() (delays []Delay) {
	for _, k := range j.keys {
		for i, h := range k.grants {
			if h.LostNS == 0 || h.ReleaseNS != 0 && h.ReleaseNS < h.LostNS {
				continue
			}
			if g := k.nextOther(i); g != nil && g.DoneNS < h.LostNS {
				delays = append(delays, Delay{FromNS: g.DoneNS, DelayNS: h.LostNS - g.DoneNS, Hold: h.ID, Client: h.Client, Next: g.Client, Key: h.Key})
			}
		}
	}
	return delays
}

// takeOvers are how long after each holder's death, or a fault that hit it, another client was granted its lock. One that
// handed its lock on itself in the meantime was not taken over from.
func (j *judge) takeOvers() (delays []Delay) {
	hit := map[string]*Fault{}
	for _, f := range j.m.Faults {
		for _, h := range j.m.heldBy(f) {
			if hit[h.ID] == nil {
				hit[h.ID] = f
			}
		}
	}
	for _, k := range j.keys {
		for i, h := range k.grants {
			from, after := int64(0), ""
			if f := hit[h.ID]; f != nil {
				from, after = f.EffectiveNS, f.words().One
			} else if h.ReleaseNS == 0 && j.m.Clients[h.Client].CloseNS == 0 {
				from, after = h.ExitNS, AfterDeath
			}
			if g := k.nextOther(i); from != 0 && g != nil && g.DoneNS > from && !h.handedOnBefore(g) {
				delays = append(delays, Delay{FromNS: from, DelayNS: g.DoneNS - from, Hold: h.ID, Client: h.Client, Next: g.Client, Key: h.Key, After: after})
			}
		}
	}
	return delays
}

// handedOnBefore reports whether the holder itself released the lock, for certain, before another was granted it.
func (h *Hold) handedOnBefore(g *Hold) bool {
	r := h.released
	return r != nil && r.Outcome == history.OK && (r.Owned == nil || *r.Owned) && r.InvokeNS < g.DoneNS
}

// maxWindows bounds the memory that a recording can ask for by the stamps in it alone.
const maxWindows = 1 << 20

// availability is the share of the load phase's seconds in which an acquire succeeded or no client was asking. The last second
// counts as the part of it that there was. What a lock hung of them, free although it was wanted, is taken off. It calls report for each
// second, with whether it was one of them.
func (m *Model) availability(hung []Span, report func(from, to int64, good bool)) float64 {
	from, to := m.phase(history.PhaseLoad)
	if to <= from {
		return 1
	}
	window := max(1e9, (to-from)/maxWindows) // longer in a recording longer than any run
	n := (to - from + window - 1) / window
	granted, asking := make([]bool, n), make([]int64, n+1)
	for _, h := range m.Holds {
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
		if a <= b {
			asking[(a-from)/window]++
			asking[(b-from)/window+1]--
		}
	}
	good, waiting := int64(0), int64(0)
	for i := range n {
		waiting += asking[i]
		begin := from + i*window
		end := min(begin+window, to)
		available := granted[i] || waiting == 0
		if available {
			free := within(hung, begin, end)
			good += end - begin - free
			available = free < end-begin
		}
		report(begin, end, available)
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

// quantiles reorders what it is given. A quantile is the smallest value that so many are no greater than.
func quantiles(durations []int64) Quantiles {
	n := len(durations)
	if n == 0 {
		return Quantiles{}
	}
	q := Quantiles{Count: int64(n)}
	from := 0
	for _, want := range []struct {
		percent int
		ns      *int64
	}{{50, &q.P50NS}, {95, &q.P95NS}, {99, &q.P99NS}, {100, &q.MaxNS}} {
		at := (n*want.percent+99)/100 - 1
		*want.ns = smallest(durations[from:], at-from)
		from = at
	}
	return q
}

// smallest is the element that would stand at index k if the list were sorted; afterwards nothing before it is greater
// and nothing after it smaller. Linear on average (Hoare); the rest need not be sorted.
func smallest(list []int64, k int) int64 {
	lo, hi := 0, len(list)-1
	for budget := 4 * bits.Len(uint(len(list))); hi > lo; budget-- {
		if budget == 0 {
			slices.Sort(list[lo : hi+1])
			break
		}
		pivot := max(min(list[lo], list[hi]), min(max(list[lo], list[hi]), list[lo+(hi-lo)/2]))
		i, j := lo, hi
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return list[k]
		}
	}
	return list[k]
}

func rounded(x float64, unit float64) float64 { return math.Round(x*unit) / unit }
