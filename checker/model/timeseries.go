package model

import (
	"cmp"
	"math/bits"
	"slices"

	"lockcheck/checker/history"
)

// Series is the run's figures over time: what pictures are drawn from, never part of a verdict. Its size is bounded for runs of
// any length, because its windows grow with the run.
type Series struct {
	WindowNS int64          // the length of each window; 0 if no operation was completed
	Windows  []SeriesWindow // from the start of the run on, without a gap; at most 160
	// LossSignals and TakeOvers are the delays that Stats summarises, one by one, in the order in which they began. Of a
	// great many only the longest of each stretch of the run are left, at most 1,000.
	LossSignals, TakeOvers []Delay
}

// SeriesWindow is one window of a Series.
type SeriesWindow struct {
	// OK, Fail and Info count the operations that were completed in it. One that never was is in none.
	OK, Fail, Info int64
	// LoadNS is how much of it belongs to the load phase, AvailableNS how much of that to seconds in which the lock could
	// be had in the sense of Stats.Availability.
	LoadNS, AvailableNS int64
	// Latency is of the operations that succeeded in it. Quantiles are at most 1/16 greater than the true ones; the
	// greatest is exact.
	Latency map[history.F]Quantiles
}

// Delay is how long something took that no single operation waits for.
type Delay struct {
	FromNS  int64 // when it began: another client's grant, or what kept the holder from going on
	DelayNS int64
	Hold    string // of the old holder
	Client  string // the old holder
	Next    string // the client that was granted the lock
	Key     string
	After   string // of a take-over: what had happened to the holder, AfterDeath or the noun of a fault
}

// AfterDeath is the Delay.After of a take-over from a client that ended.
const AfterDeath = "death"

const (
	minSeriesWindow  = 500e6 // ns
	maxSeriesWindows = 160   // an even number: they are joined in pairs
	maxSeriesDelays  = 1000
)

// timed are the operations whose latencies are kept by window.
var timed = [...]history.F{history.Acquire, history.Read, history.Write, history.Renew, history.Release}

// seriesCounts gathers a series while the history is read, in one pass and in bounded memory: when the windows are used
// up, each two become one.
type seriesCounts struct {
	windowNS int64
	windows  []windowCounts
}

type windowCounts struct {
	ok, fail, info      int64
	loadNS, availableNS int64
	latency             [len(timed)]*histogram
}

// at is the window of a moment of the run.
func (s *seriesCounts) at(ns int64) *windowCounts {
	if s.windowNS == 0 {
		s.windowNS = minSeriesWindow
	}
	for ns/s.windowNS >= maxSeriesWindows {
		s.join()
	}
	for n := ns / s.windowNS; int64(len(s.windows)) <= n; {
		s.windows = append(s.windows, windowCounts{})
	}
	return &s.windows[ns/s.windowNS]
}

// join makes one window of each two.
func (s *seriesCounts) join() {
	s.windowNS *= 2
	joined := s.windows[:0]
	for i := 0; i < len(s.windows); i += 2 {
		w := s.windows[i]
		if i+1 < len(s.windows) {
			w.add(&s.windows[i+1])
		}
		joined = append(joined, w)
	}
	clear(s.windows[len(joined):])
	s.windows = joined
}

func (w *windowCounts) add(other *windowCounts) {
	w.ok, w.fail, w.info = w.ok+other.ok, w.fail+other.fail, w.info+other.info
	w.loadNS, w.availableNS = w.loadNS+other.loadNS, w.availableNS+other.availableNS
	for i, h := range other.latency {
		switch {
		case h == nil:
		case w.latency[i] == nil:
			w.latency[i] = h
		default:
			w.latency[i].join(h)
		}
	}
}

func (s *seriesCounts) completed(invokeNS int64, e *history.Event) {
	w := s.at(e.TimeNS)
	switch e.Type {
	case history.OK:
		w.ok++
		if i := slices.Index(timed[:], e.F); i >= 0 {
			if w.latency[i] == nil {
				w.latency[i] = &histogram{}
			}
			w.latency[i].add(e.TimeNS - invokeNS)
		}
	case history.Fail:
		w.fail++
	default:
		w.info++
	}
}

// Available takes a stretch of the load phase, which may lie across windows.
func (s *seriesCounts) Available(from, to int64, good bool) {
	for from < to {
		w := s.at(from)
		end := min((from/s.windowNS+1)*s.windowNS, to)
		w.loadNS += end - from
		if good {
			w.availableNS += end - from
		}
		from = end
	}
}

// Series is what was gathered.
func (s *seriesCounts) Series() Series {
	out := Series{WindowNS: s.windowNS, Windows: make([]SeriesWindow, len(s.windows))}
	for i := range s.windows {
		w := &s.windows[i]
		out.Windows[i] = SeriesWindow{OK: w.ok, Fail: w.fail, Info: w.info, LoadNS: w.loadNS, AvailableNS: w.availableNS}
		for k, h := range w.latency {
			if h == nil {
				continue
			}
			if out.Windows[i].Latency == nil {
				out.Windows[i].Latency = map[history.F]Quantiles{}
			}
			out.Windows[i].Latency[timed[k]] = h.quantiles()
		}
	}
	return out
}

// LongestDelays orders delays by when they began. Of too many, the longest of each stretch of the run is left.
func LongestDelays(delays []Delay, endNS int64) []Delay {
	slices.SortStableFunc(delays, func(a, b Delay) int { return cmp.Compare(a.FromNS, b.FromNS) })
	if len(delays) <= maxSeriesDelays {
		return delays
	}
	stretch := endNS/maxSeriesDelays + 1
	left := delays[:0]
	for _, d := range delays {
		n := len(left)
		switch {
		case n == 0 || left[n-1].FromNS/stretch != d.FromNS/stretch:
			left = append(left, d)
		case left[n-1].DelayNS < d.DelayNS:
			left[n-1] = d
		}
	}
	return slices.Clone(left)
}

// histogram counts durations in buckets whose width grows with what is in them, like a floating-point number with four
// bits behind the leading one: a bucket is never wider than 1/16 of the durations in it. (The layout is that of HDR
// histograms: Gil Tene, hdrhistogram.org.)
type histogram struct {
	n       int64
	max     int64
	buckets [histogramBuckets]uint32
}

const (
	bucketBits       = 4
	histogramBuckets = (64 - bucketBits) << bucketBits // up to 2^63 - 1 ns
)

// bucketOf is the bucket of a duration from 0 on.
func bucketOf(ns int64) int {
	shift := max(bits.Len64(uint64(ns))-bucketBits-1, 0)
	return shift<<bucketBits + int(ns>>shift)
}

// bucketEnd is the greatest duration in a bucket.
func bucketEnd(bucket int) int64 {
	shift := max(bucket>>bucketBits-1, 0)
	return int64(uint64(bucket-shift<<bucketBits+1)<<shift - 1)
}

func (h *histogram) add(ns int64) {
	h.n++
	h.max = max(h.max, ns)
	h.buckets[bucketOf(ns)]++
}

func (h *histogram) join(other *histogram) {
	h.n += other.n
	h.max = max(h.max, other.max)
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
}

// quantiles are the ends of the buckets that hold them.
func (h *histogram) quantiles() Quantiles {
	q := Quantiles{Count: h.n, MaxNS: h.max}
	seen, bucket := int64(0), -1
	for _, want := range []struct {
		percent int64
		ns      *int64
	}{{50, &q.P50NS}, {95, &q.P95NS}, {99, &q.P99NS}} {
		for need := (h.n*want.percent + 99) / 100; seen < need; {
			bucket++
			seen += int64(h.buckets[bucket])
		}
		*want.ns = min(bucketEnd(max(bucket, 0)), h.max)
	}
	return q
}
