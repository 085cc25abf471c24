package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/history"
)

func TestBucketsCoverAllDurations(t *testing.T) {
	for b := range histogramBuckets {
		if got := bucketOf(bucketEnd(b)); got != b {
			t.Fatalf("bucket %d ends at %d, which is in bucket %d", b, bucketEnd(b), got)
		}
	}
	for _, ns := range []int64{0, 1, 15, 16, 31, 32, 33, 1e6, 3e9, math.MaxInt64} {
		if end := bucketEnd(bucketOf(ns)); end < ns || end-ns > ns/16 {
			t.Errorf("%d ns are in a bucket up to %d", ns, end)
		}
	}
}

func TestHistogramQuantilesAreCloseToTheTrueOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var one, other histogram
		var all []int64
		for range n {
			ns := int64(math.Exp(rng.Float64() * 30))
			all = append(all, ns)
			if ns%2 == 0 {
				one.add(ns)
			} else {
				other.add(ns)
			}
		}
		one.join(&other)
		got, want := one.quantiles(), QuantilesOf(slices.Clone(all))
		if got.Count != want.Count || got.MaxNS != want.MaxNS {
			t.Fatalf("%d durations: %+v, want %+v", n, got, want)
		}
		for _, q := range [][2]int64{{got.P50NS, want.P50NS}, {got.P95NS, want.P95NS}, {got.P99NS, want.P99NS}} {
			if q[0] < q[1] || q[0] > q[1]+q[1]/16 {
				t.Fatalf("%d durations: quantile %d, truly %d", n, q[0], q[1])
			}
		}
	}
}

func TestSeriesAreBoundedForRunsOfAnyLength(t *testing.T) {
	var s seriesCounts
	const n = 10_000
	for i := range int64(n) {
		at := i * i * i * 1e5 // ever slower, for some three years
		s.completed(max(at-5e6, 0), &history.Event{TimeNS: at, F: history.Read, Type: history.OK})
	}
	s.Available(0, 1e9, true)
	s.Available(1e9, 3600e9, false)
	out := s.Series()
	var count, latencies, load, good int64
	for _, w := range out.Windows {
		count, latencies = count+w.OK, latencies+w.Latency[history.Read].Count
		load, good = load+w.LoadNS, good+w.AvailableNS
	}
	if len(out.Windows) > maxSeriesWindows || len(out.Windows) < maxSeriesWindows/2 || count != n || latencies != n || load != 3600e9 || good != 1e9 {
		t.Errorf("%d windows with %d operations, %d latencies, %d of %d ns available", len(out.Windows), count, latencies, good, load)
	}
	s.completed(0, &history.Event{TimeNS: math.MaxInt64, F: history.Read, Type: history.OK})
	if len(s.windows) > maxSeriesWindows {
		t.Errorf("%d windows", len(s.windows))
	}

	var delays []Delay
	for i := range int64(5 * maxSeriesDelays) {
		delays = append(delays, Delay{FromNS: i * 1e6, DelayNS: i % 7})
	}
	left := LongestDelays(delays, 5*maxSeriesDelays*1e6)
	if len(left) > maxSeriesDelays+1 || len(left) < maxSeriesDelays/2 || !slices.IsSortedFunc(left, func(a, b Delay) int { return int(a.FromNS - b.FromNS) }) {
		t.Errorf("%d delays are left", len(left))
	}
	for _, d := range left[:len(left)-1] {
		if d.DelayNS < 4 { // five neighbours of seven in turn have one of at least 4
			t.Errorf("%+v is not the longest of its stretch", d)
		}
	}
}
