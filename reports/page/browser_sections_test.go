//go:build e2e

package page

import (
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/testkit/browserkit"
)

// manyFindings is the made-up run with more findings than stand in the page's flow.
func manyFindings() rundir.Judgement {
	j := testkit.EtcdPauseRun()
	p := j.Result.Property(model.StaleWrite)
	for i := len(p.Findings); i < 12; i++ {
		f := p.Findings[0]
		f.ID = fmt.Sprintf("stale-write-%d", i+1)
		p.Findings = append(p.Findings, f)
	}
	p.Count = int64(len(p.Findings))
	return j
}

func TestTheSectionsOfTheReportInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	path := written(t, manyFindings())
	const folded = "v=stale-write-9"
	visible := func(p *browserkit.Page, id string) bool {
		return browserkit.Eval[bool](p, fmt.Sprintf(`document.getElementById(%q).checkVisibility({ contentVisibilityAuto: true }) && document.getElementById(%q).getBoundingClientRect().height > 0`, id, id))
	}

	t.Run("a link opens what is folded", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{Hash: "#" + folded})
		p.Until(`document.getElementById("v=stale-write-9").open`)
		if !visible(p, folded) {
			t.Error("the story is open and cannot be seen")
		}
		p.Click(`#properties .go a`)
		p.Until(`document.getElementById("v=mutual-exclusion-1").open`)
		for _, all := range []string{`document.querySelectorAll("#openall")[0]`, `[...document.querySelectorAll("#more details > summary")].at(-1)`} {
			p := b.Open(t, path, browserkit.View{})
			if browserkit.Eval[bool](p, `document.getElementById("v=stale-write-9") !== null`) {
				t.Error("what is folded is made before it is opened")
			}
			browserkit.Eval[bool](p, all+`.click(); true`)
			p.Until(`document.querySelectorAll("#more details .finding").length > 0`)
		}
	})

	t.Run("the command is copied", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{})
		command := p.Text("#reproduce")
		browserkit.Eval[bool](p, `navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; true`)
		p.Click(`[data-copy="reproduce"]`)
		p.Until(`document.querySelector("[data-copy]").textContent === "copied"`)
		if got := browserkit.Eval[string](p, `window.copied`); got != command || !strings.HasPrefix(got, "lockcheck run ") {
			t.Errorf("copied %q, and the page shows %q", got, command)
		}
		// Where the clipboard is refused, the command is selected, so that a key copies it.
		p = b.Open(t, path, browserkit.View{})
		browserkit.Eval[bool](p, `navigator.clipboard.writeText = () => Promise.reject(new Error("refused")); true`)
		p.Click(`[data-copy="reproduce"]`)
		p.Until(`document.querySelector("[data-copy]").textContent === "copied"`)
		if got := browserkit.Eval[string](p, `getSelection().toString().trim()`); got != command {
			t.Errorf("selected %q", got)
		}
	})

	t.Run("by keyboard", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{})
		p.Press(browserkit.Tab, browserkit.Enter)
		if got := browserkit.Eval[string](p, `location.hash`); got != "#findings" {
			t.Errorf("the first key leads to %q", got)
		}
		reached := false
		for range 60 { // the next story's summary comes after the links of the first
			p.Press(browserkit.Tab)
			if browserkit.Eval[string](p, `document.activeElement.parentElement.id`) == "v=stale-write-1" {
				reached = true
				break
			}
		}
		if !reached {
			t.Fatal("no story can be reached with the tabulator")
		}
		p.Press(browserkit.Enter)
		if browserkit.Eval[bool](p, `document.getElementById("v=stale-write-1").open`) {
			t.Error("the key does not close the story")
		}
	})

	t.Run("without JavaScript a story is a click away", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{NoScript: true})
		if browserkit.Eval[bool](p, `document.getElementById("v=mutual-exclusion-1").open`) {
			t.Fatal("it was open before")
		}
		browserkit.Eval[bool](p, `document.getElementById("v=mutual-exclusion-1").firstElementChild.click(); true`) // no script of the page's
		if got := p.Text(`[id="v=mutual-exclusion-1"] .story`); !strings.Contains(got, "all of its threads were seen stopped") {
			t.Errorf("the story says %q", got)
		}
		if shown := browserkit.Eval[int](p, `[...document.querySelectorAll("button")].filter((b) => b.checkVisibility()).length`); shown > 0 {
			t.Errorf("%d buttons that cannot work", shown)
		}
	})

	t.Run("on paper every story of the flow and every figure is there", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{Print: true, NoScript: true})
		const folded = `document.querySelectorAll("#more details .finding").length`
		hidden := browserkit.Eval[[]string](p, `[...document.querySelectorAll(".finding .story, .finding svg, .finding .prevented, .chart svg")]
			.filter((e) => !e.closest("#more > details")).filter((e) => !e.checkVisibility() || e.getBoundingClientRect().height < 20).map((e) => e.className.baseVal ?? e.className)`)
		if len(hidden) > 0 {
			t.Errorf("not on paper: %v", hidden)
		}
		if n := browserkit.Eval[int](p, `[...document.querySelectorAll(".finding .story")].filter((e) => e.checkVisibility()).length`); n != 15-browserkit.Eval[int](p, folded) || n < 2 {
			t.Errorf("%d of 15 stories", n)
		}
		p.ShotWhole("report-paper")
	})

	t.Run("figures can be seen in the light and in the dark", func(t *testing.T) {
		for _, dark := range []bool{false, true} {
			p := b.Open(t, path, browserkit.View{Dark: dark})
			// Shapes that would be drawn in the colour of what lies behind them cannot be seen.
			unseen := browserkit.Eval[[]string](p, `(() => { const back = getComputedStyle(document.querySelector(".chart figure")).backgroundColor;
				return [...document.querySelectorAll(".chart svg path")].filter((e) => { const s = getComputedStyle(e);
					return [s.fill, s.stroke].every((c) => c === "none" || c === back); }).map((e) => e.className.baseVal); })()`)
			if len(unseen) > 0 {
				t.Errorf("dark %v: cannot be seen: %v", dark, unseen)
			}
			p.ShotOf(fmt.Sprintf("figures-dark-%v", dark), "#figures")
		}
	})
}

// One word without a place to break it, in every text that there is.
func TestHugeWordsStayInTheWindow(t *testing.T) {
	b := browserkit.Start(t)
	p := b.Open(t, written(t, testkit.HostileRun(strings.Repeat("wide", 5000))), browserkit.View{})
	p.Until(`document.documentElement.dataset.timeline`)
	browserkit.Eval[bool](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; }); true`)
	p.Frame()
	if wide := browserkit.Eval[float64](p, `document.documentElement.scrollWidth`); wide > 1280 {
		t.Errorf("the page is %v wide in a window of 1280, because of %v", wide, browserkit.Eval[[]string](p, `[...document.body.querySelectorAll("*")]
			.filter((e) => e.getBoundingClientRect().right > 1280 && !e.closest(".scroll")).map((e) => e.tagName + "." + (e.className.baseVal ?? e.className)).slice(0, 20)`))
	}
}
