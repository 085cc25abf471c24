//go:build e2e

package page

import (
	"strings"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

func TestStallsAndClockStepsInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	p := opened(t, b, written(t, disturbedRun()), browserkit.View{Hash: "#t=1.9-2.9"})
	p.Click("#inview > summary")
	p.Until(`document.querySelectorAll("#inviewrows tr").length > 2`)
	for _, want := range []string{"stall\tthe harness or the machine stalled for 150 ms", "clock set\tthe machine's wall clock was set forward by 3.00 s"} {
		if rows := p.Text("#inviewrows"); !strings.Contains(rows, want) {
			t.Errorf("the table lacks %q:\n%s", want, rows)
		}
	}
	browserkit.Eval[bool](p, `(document.getElementById("canvas").focus(), true)`)
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
