package coverage

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

const ms = int64(1e6)

// run is a paused holder's lease that passed on: c1 held k with token 4, c2 got it 10 ms after c1's belief and 30 ms after its lease ended.
func run() *model.Model {
	m := &model.Model{Holds: []*model.Hold{
		{ID: "h1", Key: "k", Client: "c1", Token: "4", Outcome: history.OK, DoneNS: 100 * ms, BelievedNS: 1980 * ms, LeaseNS: 1960 * ms},
		{ID: "h2", Key: "k", Client: "c2", Token: "9", Outcome: history.OK, DoneNS: 1990 * ms, BelievedNS: 2100 * ms, LeaseNS: 3900 * ms, ReleaseNS: 2100 * ms},
		{ID: "h3", Key: "k", Client: "c3", Token: "10", Outcome: history.OK, DoneNS: 2101 * ms, BelievedNS: 2200 * ms, LeaseNS: 4000 * ms},
	}}
	for _, r := range []history.Request{
		{Hold: "h1", Kind: history.KindWrite, Outcome: history.Applied, TimeNS: 1900 * ms},
		{Hold: "h1", Kind: history.KindWrite, Outcome: history.Rejected, TimeNS: 1995 * ms},
		{Hold: "h2", Kind: history.KindRead, Outcome: history.Applied, TimeNS: 2000 * ms},
		{Hold: "h2", Kind: history.KindWrite, Outcome: history.Applied, TimeNS: 2050 * ms},
		{Hold: "h3", Kind: history.KindRead, Outcome: history.Applied, TimeNS: 2105 * ms},
	} {
		r.Seq, r.Key = int64(m.Requests.Len()+1), "k"
		m.Requests.Append(r)
	}
	return m
}

func margins(m *model.Model) map[model.Name]int64 {
	by := map[model.Name]int64{}
	for _, margin := range Margins(m) {
		by[margin.Property] = margin.By
	}
	return by
}

func TestTheClosestTakeOverOfEachProperty(t *testing.T) {
	want := map[model.Name]int64{model.MutualExclusion: 10 * ms, model.EarlyExpiry: 30 * ms, model.StaleWrite: 100 * ms, model.TokenMonotonicity: 5}
	got := margins(run())
	for name, by := range want {
		if got[name] != by {
			t.Errorf("%s: %d, want %d", name, got[name], by)
		}
	}
	if len(got) != len(want) {
		t.Errorf("margins of %v", got)
	}
}

func TestAViolationHasNoDistanceLeft(t *testing.T) {
	m := run()
	m.Holds[0].BelievedNS = 2000 * ms
	if by := margins(m)[model.MutualExclusion]; by != -10*ms {
		t.Errorf("%d, want -10 ms", by)
	}
}

// A hand-over is no close call: h3 followed h2 within a millisecond of its release.
func TestAHandOverIsNoCloseCall(t *testing.T) {
	for name, change := range map[string]func(*model.Model){
		"released":        func(m *model.Model) { m.Holds[0].ReleaseNS = 1980 * ms },
		"the same client": func(m *model.Model) { m.Holds[1].Client = "c1" },
		"never granted":   func(m *model.Model) { m.Holds[0].Outcome = history.Info },
		"never believed":  func(m *model.Model) { m.Holds[0].Voided = true },
		"of another lock": func(m *model.Model) { m.Holds[0].Key = "other" },
	} {
		m := run()
		change(m)
		if got := margins(m); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	m := run()
	m.Holds[0].Token, m.Holds[0].BelievedNS, m.Holds[0].LeaseNS = "", 0, 0 // nothing is known but the writes
	if got := margins(m); len(got) != 1 || got[model.StaleWrite] != 100*ms {
		t.Errorf("nothing known: %v", got)
	}
}
