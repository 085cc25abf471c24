package page

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

func TestTheEnvironmentIsOnThePage(t *testing.T) {
	_, doc := rendered(t, testkit.EtcdPauseRun())
	phrase := testkit.Text(doc)
	for _, want := range []string{
		"etcd:v3.7.3", "sha256:0aa1", "etcd@sha256:77fe", "none: it came from no registry", // images
		"ran on one kernel", "90.0 s behind", // clocks
		"1.00 s", "2.00 s", "the least that the service was seen to grant", // leases
		"heartbeat", "6.18.0", "etcd 3.7.3",
	} {
		if !strings.Contains(phrase, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	files := 0
	for _, a := range testkit.Elements(doc, "a") {
		switch testkit.Attribute(a, "href") {
		case rundir.PlanFile, rundir.HistoryFile, rundir.ResourceFile, rundir.ResultsFile, "nodes/":
			files++
		}
	}
	if files != 5 {
		t.Errorf("%d of 5 files can be downloaded", files)
	}
}

func TestClocksThatWereNeverSeenToChangeAreNotListed(t *testing.T) {
	m := &model.Model{EndNS: 9e9}
	for i := range int64(maxSkews + 5) {
		m.Faults = append(m.Faults, &model.Fault{Op: i, Name: "clock", Target: "n1", EffectiveNS: 1e9, HealNS: 2e9, SkewNS: 4e9}, &model.Fault{Name: "clock", Target: "n2", BeginNS: 1e9, Error: "refused"},
			&model.Fault{Name: "pause", Target: "n3", EffectiveNS: 1e9})
	}
	e := newEnvironment(rundir.Judgement{Plan: history.Plan{Provider: "local"}, Model: m, Result: &model.Result{Stats: model.Stats{ClockSteps: 2, ClockSteppedNS: 3e9}}})
	if !strings.Contains(e.SetBy, "was set 2 times while the run went on, by 3.00 s in all") {
		t.Errorf("of the machine's own clock: %q", e.SetBy)
	}
	if len(e.Skews) != maxSkews || e.MoreSkew != 5 || e.Skews[0] != (skew{Target: "n1", From: "1.000 s", To: "2.000 s", Seen: "4.00 s ahead"}) {
		t.Errorf("%d clocks and %d more, first %+v", len(e.Skews), e.MoreSkew, e.Skews[0])
	}
	if !strings.Contains(e.Clocks, "did not run on one kernel") || !strings.Contains(e.NoImages, "processes of the machine") {
		t.Errorf("%s %s", e.Clocks, e.NoImages)
	}
}
