package checker

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		got, want := one.quantiles(), quantiles(slices.Clone(all))
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

func TestSeriesAddUpToTheStats(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1)
	result, model := judgeText(t, fencedPlan(), text)
	s := model.Series
	var ok, fail, load, available, acquired int64
	for _, w := range s.Windows {
		ok, fail = ok+w.OK, fail+w.Fail
		load, available = load+w.LoadNS, available+w.AvailableNS
		acquired += w.Latency[history.Acquire].Count
		if w.OK+w.Fail > 0 && w.Latency[history.Write].MaxNS > ns("3.27") {
			t.Errorf("a write that took too long: %+v", w)
		}
	}
	if s.WindowNS != minSeriesWindow || ok != 10 || fail != 1 || acquired != 4 {
		t.Errorf("windows of %d ns: %d ok, %d failed, %d acquires", s.WindowNS, ok, fail, acquired)
	}
	if load != ns("4.51") || rounded(float64(available)/float64(load), 10000) != result.Stats.Availability {
		t.Errorf("available %d of %d ns, and %v in the figures", available, load, result.Stats.Availability)
	}
	// c2 was paused at 0.21; c4 was granted its lock at 2.60, and c2 was told so at 3.44.
	lost, taken := s.LossSignals, s.TakeOvers
	if len(lost) != 1 || lost[0] != (Delay{FromNS: ns("2.60"), DelayNS: ns("0.84"), Hold: "h1", Client: "c2", Next: "c4", Key: "k"}) {
		t.Errorf("loss signals %+v", lost)
	}
	if len(taken) != 1 || taken[0] != (Delay{FromNS: ns("0.21"), DelayNS: ns("2.39"), Hold: "h1", Client: "c2", Next: "c4", Key: "k", After: "pause"}) {
		t.Errorf("take-overs %+v", taken)
	}
}

func TestWhoHandsOnIsNotTakenOverFrom(t *testing.T) {
	const hit = `
0.10 c1 acquire h1
0.20 c1 acquire:ok h1 token=1
0.21 c1 read h1
0.22 @ read h1
0.25 c2 acquire h2
0.30 nemesis pause:invoke 1 target=c1
0.31 nemesis pause:ok 1 target=c1
0.40 nemesis pause:heal 1 target=c1
0.41 nemesis pause:healed 1 target=c1
0.45 c1 read:ok h1 held=0.42
`
	for name, test := range map[string]struct {
		rest string
		want int
	}{
		"released after the pause":              {"0.50 c1 release h1\n0.51 c1 release:ok h1 owned=true held=0.45\n0.60 c2 acquire:ok h2 token=2", 0},
		"what came of the release is not known": {"0.50 c1 release h1\n0.51 c1 release:info h1 held=0.45\n0.60 c2 acquire:ok h2 token=2", 1},
		"released what was not its own":         {"0.50 c1 release h1\n0.51 c1 release:ok h1 owned=false held=0.45\n0.60 c2 acquire:ok h2 token=2", 1},
		"released after the next grant":         {"0.60 c2 acquire:ok h2 token=2\n0.70 c1 release h1\n0.71 c1 release:ok h1 owned=true held=0.45", 1},
		"no client was granted it":              {"0.50 c1 lost h1 held=0.45", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, model := judgeText(t, plainPlan(), hit+test.rest)
			if got := len(model.Series.TakeOvers); got != test.want {
				t.Errorf("%d take-overs: %+v", got, model.Series.TakeOvers)
			}
		})
	}
}

func TestSeriesAreBoundedForRunsOfAnyLength(t *testing.T) {
	var s seriesCounts
	const n = 10_000
	for i := range int64(n) {
		at := i * i * i * 1e5 // ever slower, for some three years
		s.completed(max(at-5e6, 0), &history.Event{TimeNS: at, F: history.Read, Type: history.OK})
	}
	s.available(0, 1e9, true)
	s.available(1e9, 3600e9, false)
	out := s.series()
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
	left := kept(delays, 5*maxSeriesDelays*1e6)
	if len(left) > maxSeriesDelays+1 || len(left) < maxSeriesDelays/2 || !slices.IsSortedFunc(left, func(a, b Delay) int { return int(a.FromNS - b.FromNS) }) {
		t.Errorf("%d delays are left", len(left))
	}
	for _, d := range left[:len(left)-1] {
		if d.DelayNS < 4 { // five neighbours of seven in turn have one of at least 4
			t.Errorf("%+v is not the longest of its stretch", d)
		}
	}
}

func TestAClocksOffsetIsKept(t *testing.T) {
	events, requests := parse(t, "0.10 c1 acquire h1\n0.20 c1 acquire:ok h1 token=1\n0.3 nemesis clock:invoke 1 target=n1\n0.4 nemesis clock:ok 1 target=n1")
	for i := range events {
		if events[i].F == "clock" && events[i].Type == history.OK {
			events[i].SkewNS = 90e9
		}
	}
	_, m, err := Check(recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return events, requests }), Options{})
	if err != nil || len(m.Faults) != 1 || m.Faults[0].SkewNS != 90e9 {
		t.Errorf("%v, %+v", err, m.Faults)
	}
}
