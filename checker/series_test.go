package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func TestSeriesAddUpToTheStats(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1)
	result, judged := judgeText(t, fencedPlan(), text)
	s := judged.Series
	var ok, fail, load, available, acquired int64
	for _, w := range s.Windows {
		ok, fail = ok+w.OK, fail+w.Fail
		load, available = load+w.LoadNS, available+w.AvailableNS
		acquired += w.Latency[history.Acquire].Count
		if w.OK+w.Fail > 0 && w.Latency[history.Write].MaxNS > ns("3.27") {
			t.Errorf("a write that took too long: %+v", w)
		}
	}
	if s.WindowNS != 500e6 || ok != 10 || fail != 1 || acquired != 4 {
		t.Errorf("windows of %d ns: %d ok, %d failed, %d acquires", s.WindowNS, ok, fail, acquired)
	}
	if load != ns("4.51") || model.Rounded(float64(available)/float64(load), 10000) != result.Stats.Availability {
		t.Errorf("available %d of %d ns, and %v in the figures", available, load, result.Stats.Availability)
	}
	// c2 was paused at 0.21; c4 was granted its lock at 2.60, and c2 was told so at 3.44.
	lost, taken := s.LossSignals, s.TakeOvers
	if len(lost) != 1 || lost[0] != (model.Delay{FromNS: ns("2.60"), DelayNS: ns("0.84"), Hold: "h1", Client: "c2", Next: "c4", Key: "k"}) {
		t.Errorf("loss signals %+v", lost)
	}
	if len(taken) != 1 || taken[0] != (model.Delay{FromNS: ns("0.21"), DelayNS: ns("2.39"), Hold: "h1", Client: "c2", Next: "c4", Key: "k", After: "pause"}) {
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
