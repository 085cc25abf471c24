package words

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func TestAnInconclusiveRunSaysWhatToChange(t *testing.T) {
	plan := history.Plan{Nemesis: "pause", Clients: 2, TimeLimitMS: 10_000, Command: []string{"lockcheck", "run", "--backend=etcd", "--nemesis=pause", "--clients=2", "--time-limit=10s", "--seed=3"}}
	for name, c := range map[string]struct {
		unmet model.Exposure
		plan  func(*history.Plan)
		want  []string
	}{
		"nobody waited": {model.Exposure{Name: history.ExposureContended, Min: 1}, nil, []string{
			"Use more clients for each lock, and a longer load (contended-grants: 0, at least 1 required).",
			"For example: lockcheck run --backend=etcd --nemesis=pause --seed=3 --time-limit=20s --clients=4 --keys=1"}},
		"a part of what is required": {model.Exposure{Name: history.ExposureSlots, Count: 1, Min: 4}, nil, []string{
			"Use a longer load (recorded-slots: 1, at least 4 required).",
			"For example: lockcheck run --backend=etcd --nemesis=pause --clients=2 --seed=3 --time-limit=50s"}},
		"no pause outlived a lease": {model.Exposure{Name: "pauses-past-the-lease", Min: 1}, nil, []string{
			"Aim the fault at a holder at work, and let it last longer than the lease (pauses-past-the-lease: 0, at least 1 required).",
			"For example: lockcheck run --backend=etcd --clients=2 --seed=3 --time-limit=20s --nemesis=pause:holder@work,1.5..2ttl"}},
		"a load too short for a pause and a lease": {model.Exposure{Name: "pauses-past-the-lease", Min: 1}, func(p *history.Plan) { p.TimeLimitMS, p.TTLMS, p.EffectiveMS = 1000, 1500, 2000 }, []string{
			"Aim the fault at a holder at work, and let it last longer than the lease (pauses-past-the-lease: 0, at least 1 required).",
			"For example: lockcheck run --backend=etcd --clients=2 --seed=3 --time-limit=10s --nemesis=pause:holder@work,1.5..2ttl"}},
		"of a description of faults": {model.Exposure{Name: "pauses-past-the-lease", Min: 1}, func(p *history.Plan) { p.Nemesis = "pause:one,2s" }, []string{
			"Aim the fault at a holder at work, and let it last longer than the lease (pauses-past-the-lease: 0, at least 1 required).",
			"For example: lockcheck run --backend=etcd --nemesis=pause --clients=2 --seed=3 --time-limit=20s"}},
		"of a plan file": {model.Exposure{Name: "kills", Min: 1}, func(p *history.Plan) { p.PlanFile = "plan.yaml" }, []string{
			"Use a longer load, and look at the faults of the report: each says why it had no effect (kills: 0, at least 1 required)."}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plan
			if c.plan != nil {
				c.plan(&plan)
			}
			r := &model.Result{Verdict: model.Inconclusive, Exposure: []model.Exposure{{Name: "met", Count: 2, Min: 1}, c.unmet}}
			if got := NextSteps(plan, r, nil); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	silent := &model.Result{Verdict: model.Inconclusive, Properties: []model.Property{{Name: model.Liveness, Verdict: model.Inconclusive, Reason: "c2 " + model.Unheard}}}
	if got, want := NextSteps(plan, silent, nil), []string{"Find out why that client hung: its log is below nodes/. Then run it again."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	passed := &model.Result{Verdict: model.Pass, Exposure: []model.Exposure{{Name: "met", Count: 2, Min: 1}}}
	if got := NextSteps(plan, passed, nil); len(got) > 0 {
		t.Errorf("after a pass: %q", got)
	}
}

// The page about inconclusive runs has each reason with its action.
func TestThePageHasEachReasonToBeInconclusive(t *testing.T) {
	page, err := os.ReadFile("../../cmd/lockcheck/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range Unmets {
		if row := "| " + u.Reason + " | " + u.Action + " |"; !strings.Contains(string(page), row) {
			t.Errorf("cmd/lockcheck/README.md lacks %s", row)
		}
	}
}
