package reports

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/reports/browsertest"
)

// disturbedRun is the made-up run with a stall and two settings of the machine's clock while its first story goes on.
func disturbedRun() Judgement {
	j := etcdPauseRun()
	j.Model.Stalls = []checker.Span{{FromNS: 2000e6, ToNS: 2150e6}}
	j.Model.Steps = []checker.ClockStep{{Span: checker.Span{FromNS: 2500e6, ToNS: 2510e6}, ByNS: 3e9}, {Span: checker.Span{FromNS: 2700e6, ToNS: 2710e6}, ByNS: -2e9}}
	return j
}

func TestStallsAndClockStepsAreInEveryPictureAndTable(t *testing.T) {
	page, doc := rendered(t, disturbedRun())
	told := 0
	for _, n := range elements(doc, "figure") {
		if attribute(n.Parent.Parent, "id") != "v=mutual-exclusion-1" {
			continue
		}
		told++
		classes := map[string]int{}
		for _, r := range elements(n, "rect") {
			classes[attribute(r, "class")]++
		}
		if classes["stall"] != 1 || classes["set"] != 2 {
			t.Errorf("the story draws %v", classes)
		}
		if words := text(n); !strings.Contains(words, "harness or machine stalled") || !strings.Contains(words, "the machine's wall clock was set") {
			t.Errorf("its legend says %q", words)
		}
		if words := text(n.Parent); !strings.Contains(words, "the machine's wall clock was set back by 2.00 s") {
			t.Errorf("its table says %q", words)
		}
	}
	if told != 1 {
		t.Errorf("%d stories looked at", told)
	}
	words := text(doc)
	for _, want := range []string{"clock set", "the machine's wall clock was set forward by 3.00 s; nothing is blamed on it", "the harness or the machine stalled for 150 ms; nothing is blamed on it"} {
		if !strings.Contains(words, want) {
			t.Errorf("the table of faults does not say %q", want)
		}
	}
	if _, calm := rendered(t, calmly(disturbedRun())); strings.Contains(text(calm), "wall clock was set") {
		t.Error("a run in which nobody set a clock speaks of it")
	}
	still := page[strings.Index(page, `id="still"`):]
	still = still[:strings.Index(still, "</svg>")]
	if strings.Count(still, `class="set"`) != 2 || strings.Count(still, `class="stall"`) != 1 {
		t.Error("the still timeline lacks a mark")
	}
}

func calmly(j Judgement) Judgement {
	j.Model.Steps, j.Model.Stalls = nil, nil
	return j
}

func TestStallsAndClockStepsInABrowser(t *testing.T) {
	b := browsertest.Start(t)
	p := opened(t, b, written(t, disturbedRun()), browsertest.View{Hash: "#t=1.9-2.9"})
	p.Click("#inview > summary")
	p.Until(`document.querySelectorAll("#inviewrows tr").length > 2`)
	for _, want := range []string{"stall\tthe harness or the machine stalled for 150 ms", "clock set\tthe machine's wall clock was set forward by 3.00 s"} {
		if rows := p.Text("#inviewrows"); !strings.Contains(rows, want) {
			t.Errorf("the table lacks %q:\n%s", want, rows)
		}
	}
	browsertest.Eval[bool](p, `(document.getElementById("canvas").focus(), true)`)
	for range 12 {
		if p.Press("."); strings.HasPrefix(p.Text("#said"), "the machine's wall clock was set forward") {
			break
		}
	}
	if said := p.Text("#said"); !strings.Contains(said, "2.500 s to 2.510 s") {
		t.Errorf("step by step the timeline comes to %q", said)
	}
	p.ShotOf("timeline-clock-set", "#live")
}
