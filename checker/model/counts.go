package model

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"lockcheck/checker/history"
)

// RunParallel runs tasks on as many processors as there are, and waits for all of them.
func RunParallel(tasks []func()) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tasks)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tasks)); i = next.Add(1) - 1 {
				tasks[i]()
			}
		})
	}
	workers.Wait()
}

// Counts is what stats need of single events, gathered while the history is read.
type Counts struct {
	Invoked, OK, Fail, info int64
	latency                 map[history.F]*durations // of operations that succeeded
	Quantiles               map[string]Quantiles     // of those, once all are known
	Guarded, Unanswered     int64
	Series                  seriesCounts
}

// summarize leaves only quantiles of the latencies.
func (c *Counts) summarize() {
	var mutex sync.Mutex
	c.Quantiles = map[string]Quantiles{}
	var tasks []func()
	for f, durations := range c.latency {
		tasks = append(tasks, func() {
			q := QuantilesOf(durations.all())
			mutex.Lock()
			defer mutex.Unlock()
			c.Quantiles[string(f)] = q
		})
	}
	RunParallel(tasks)
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

func (c *Counts) completed(invokeNS int64, e *history.Event) {
	c.Series.completed(invokeNS, e)
	switch e.Type {
	case history.OK:
		c.OK++
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
		c.Fail++
		if e.F == history.Write && history.HeldBack(e.Code) {
			c.Guarded++
		}
		if e.F == history.Write && e.Code == history.CodeUnanswered {
			c.Unanswered++
		}
	default:
		c.info++
	}
}

// Unknown is how many operations have no known outcome: answered so, or never.
func (c *Counts) Unknown() int64 { return c.Invoked - c.OK - c.Fail }

// QuantilesOf reorders what it is given. A quantile is the smallest value that so many are no greater than.
func QuantilesOf(durations []int64) Quantiles {
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

// Rounded is x in whole parts of one unit.
func Rounded(x float64, unit float64) float64 { return math.Round(x*unit) / unit }
