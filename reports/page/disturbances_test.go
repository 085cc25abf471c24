package page

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

// disturbedRun is the made-up run with a stall, two settings of the machine's clock and a client's silence while its first story goes on. A client
// that has no lane is silent, too.
func disturbedRun() rundir.Judgement {
	j := testkit.EtcdPauseRun()
	j.Model.Stalls = []model.Span{{FromNS: 2000e6, ToNS: 2150e6}}
	j.Model.Clients = map[string]*model.Client{"c1": {Name: "c1", Silent: []model.Span{{FromNS: 2200e6, ToNS: 3700e6}}}, "c9": {Name: "c9", Silent: []model.Span{{FromNS: 2200e6, ToNS: 3700e6}}}}
	j.Model.Steps = []model.ClockStep{{Span: model.Span{FromNS: 2500e6, ToNS: 2510e6}, ByNS: 3e9}, {Span: model.Span{FromNS: 2700e6, ToNS: 2710e6}, ByNS: -2e9}}
	return j
}

func TestDisturbancesAreInEveryPictureAndTable(t *testing.T) {
	page, doc := rendered(t, disturbedRun())
	stories := 0
	for _, n := range testkit.Elements(doc, "figure") {
		if testkit.Attribute(n.Parent.Parent, "id") != "v=mutual-exclusion-1" {
			continue
		}
		stories++
		classes := map[string]int{}
		for _, r := range testkit.Elements(n, "rect") {
			classes[testkit.Attribute(r, "class")]++
		}
		if classes["stall"] != 1 || classes["set"] != 2 || classes["silent"] != 1 {
			t.Errorf("the story draws %v", classes)
		}
		if phrase := testkit.Text(n); !strings.Contains(phrase, "harness or machine stalled") || !strings.Contains(phrase, "the machine's wall clock was set") || !strings.Contains(phrase, "answered no pings") {
			t.Errorf("its legend says %q", phrase)
		}
		if phrase := testkit.Text(n.Parent); !strings.Contains(phrase, "the machine's wall clock was set back by 2.00 s") {
			t.Errorf("its table says %q", phrase)
		}
	}
	if stories != 1 {
		t.Errorf("%d stories looked at", stories)
	}
	phrase := testkit.Text(doc)
	for _, want := range []string{"clock set", "the machine's wall clock was set forward by 3.00 s; never counted as a cause", "the harness or the machine stalled for 150 ms; never counted as a cause",
		"c1 did not answer pings for 1.50 s; never counted as a cause"} {
		if !strings.Contains(phrase, want) {
			t.Errorf("the table of faults does not say %q", want)
		}
	}
	if _, calm := rendered(t, calmly(disturbedRun())); strings.Contains(testkit.Text(calm), "wall clock was set") {
		t.Error("a run in which no clock was set mentions it")
	}
	still := page[strings.Index(page, `id="still"`):]
	still = still[:strings.Index(still, "</svg>")]
	if strings.Count(still, `class="set"`) != 2 || strings.Count(still, `class="stall"`) != 1 || strings.Count(still, `class="silent"`) != 1 {
		t.Error("the still timeline lacks a mark")
	}
}

func calmly(j rundir.Judgement) rundir.Judgement {
	j.Model.Steps, j.Model.Stalls, j.Model.Clients = nil, nil, nil
	return j
}
