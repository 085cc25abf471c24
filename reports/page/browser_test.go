//go:build e2e

package page

import (
	"strings"
	"testing"

	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/testkit/browserkit"
)

// What the page does in a real browser. Every page opened here must ask for nothing, write nothing to the console and throw
// nothing: the kit fails the test otherwise.

// written is the report of a judgement, on disk.
func written(t testing.TB, j rundir.Judgement) string {
	t.Helper()
	d := testkit.Dir(t, "run")
	if err := Write(d, j); err != nil {
		t.Fatal(err)
	}
	return d.ReportPath()
}

// opened opens a report, and waits for its timeline where it has a live one.
func opened(t *testing.T, b *browserkit.Browser, path string, v browserkit.View) *browserkit.Page {
	t.Helper()
	p := b.Open(t, path, v)
	switch {
	case v.NoScript:
	case v.Print:
		p.Until(`document.documentElement.classList.contains("timeline-live")`)
	default:
		p.Until(`document.documentElement.dataset.timeline`)
		if state := browserkit.Eval[string](p, `document.documentElement.dataset.timeline`); state != "drawn" {
			t.Fatalf("the timeline %s", state)
		}
	}
	return p
}

func TestTheReportInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	path := written(t, testkit.EtcdPauseRun())
	open := func(t *testing.T, v browserkit.View) *browserkit.Page { t.Helper(); return opened(t, b, path, v) }

	t.Run("opens from disk", func(t *testing.T) {
		p := open(t, browserkit.View{})
		if got := p.Text("h1"); !strings.Contains(got, "UNSAFE under pause: 3 stale writes accepted (3 incidents)") {
			t.Errorf("the headline says %q", got)
		}
		p.ShotWhole("report-light")
		p.ShotOf("timeline-light", "#live")
	})

	t.Run("dark", func(t *testing.T) {
		p := open(t, browserkit.View{Dark: true})
		p.ShotWhole("report-dark")
		p.ShotOf("timeline-dark", "#live")
		dark := p.Brightness("body", "color")
		p.Click("#theme")
		if light := p.Brightness("body", "color"); dark < 2*light {
			t.Errorf("letters are of brightness %v in the dark and %v in the light", dark, light)
		}
	})

	t.Run("narrow", func(t *testing.T) {
		p := open(t, browserkit.View{Width: 390, Height: 800})
		p.ShotWhole("report-narrow")
		if wide := browserkit.Eval[float64](p, `document.documentElement.scrollWidth`); wide > 390 {
			t.Errorf("the page is %v wide in a window of 390", wide)
		}
	})

	t.Run("a drawing wider than the window says so and scrolls by keyboard", func(t *testing.T) {
		const hint = `getComputedStyle(document.querySelector(".finding[open] .wide"), "::before").content`
		p := open(t, browserkit.View{Width: 390, Height: 800})
		if got := browserkit.Eval[string](p, hint); !strings.Contains(got, "scroll") {
			t.Errorf("it says %s", got)
		}
		browserkit.Eval[bool](p, `document.querySelector(".finding[open] summary").focus(); true`)
		p.Press(browserkit.Tab)
		if !browserkit.Eval[bool](p, `document.activeElement.matches(".finding[open] .wide")`) {
			t.Fatal("the tabulator does not reach the drawing")
		}
		p.Press(browserkit.Right)
		p.Until(`document.activeElement.scrollLeft > 0`)
		for name, v := range map[string]browserkit.View{"a wide window": {}, "paper": {Width: 390, Print: true}} {
			if got := browserkit.Eval[string](open(t, v), hint); got != "none" {
				t.Errorf("in %s, where nothing scrolls, it says %s", name, got)
			}
		}
	})

	t.Run("a link to a story opens it", func(t *testing.T) {
		p := open(t, browserkit.View{Hash: "#v=mutual-exclusion-2"})
		if !browserkit.Eval[bool](p, `document.getElementById("v=mutual-exclusion-2").open`) {
			t.Error("the story is closed")
		}
		if top := browserkit.Eval[float64](p, `document.getElementById("v=mutual-exclusion-2").getBoundingClientRect().top`); top < 0 || top > 450 {
			t.Errorf("the story is %v below the top of the window", top)
		}
	})

	t.Run("a number above a drawing says what its line says", func(t *testing.T) {
		p := open(t, browserkit.View{Hash: "#v=mutual-exclusion-2"})
		for _, class := range []string{"step", "stepnumber"} {
			said := browserkit.Eval[string](p, `(() => {
				const story = document.getElementById("v=mutual-exclusion-2"), second = story.querySelectorAll(".`+class+`")[1];
				second.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
				return second.querySelector("title").textContent + "\n2. " + story.querySelectorAll(".story li .say")[1].textContent;
			})()`)
			number, line, _ := strings.Cut(said, "\n")
			if want := strings.TrimPrefix(line, "2. "); !strings.HasPrefix(number, "2. ") || !strings.HasSuffix(number, want) || want == "" {
				t.Errorf("%s: hovering says %q, the story %q", class, number, line)
			}
		}
	})

	t.Run("without JavaScript", func(t *testing.T) {
		p := open(t, browserkit.View{NoScript: true})
		if height := browserkit.Eval[float64](p, `document.getElementById("still").getBoundingClientRect().height`); height < 100 {
			t.Errorf("the still timeline is %v tall", height)
		}
		if height := browserkit.Eval[float64](p, `document.getElementById("live").getBoundingClientRect().height`); height > 0 {
			t.Errorf("the live timeline, which cannot work, is %v tall", height)
		}
		p.ShotOf("timeline-still", "#still")
	})

	t.Run("on paper", func(t *testing.T) {
		p := open(t, browserkit.View{Print: true})
		if shown := browserkit.Eval[string](p, `["still", "live", "theme"].filter((id) => document.getElementById(id).getBoundingClientRect().height > 0).join()`); shown != "still" {
			t.Errorf("of the timelines and buttons paper shows %q, want the still one alone", shown)
		}
	})
}
