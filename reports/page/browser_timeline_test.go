//go:build e2e

package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/testkit/browserkit"
)

// shows is the stretch of time that the timeline says it shows, in seconds.
func shows(t *testing.T, p *browserkit.Page) (from, to float64) {
	t.Helper()
	if _, err := fmt.Sscanf(p.Text("#range"), "%f s – %f s", &from, &to); err != nil {
		t.Fatalf("the timeline says %q: %v", p.Text("#range"), err)
	}
	return from, to
}

func wantShown(t *testing.T, p *browserkit.Page, from, to float64) {
	t.Helper()
	if a, b := shows(t, p); math.Abs(a-from) > .05 || math.Abs(b-to) > .05 {
		t.Errorf("the timeline shows %v to %v, want %v to %v", a, b, from, to)
	}
}

// The made-up run lasts 23 s and has six findings, the first from 1.8 s on.
func TestTheTimelineIsUsedByPeople(t *testing.T) {
	b := browserkit.Start(t)
	path := written(t, testkit.EtcdPauseRun())
	middle := browserkit.Point{X: .55, Y: .5}

	t.Run("by keyboard", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{})
		browserkit.Eval[bool](p, `(document.querySelector('[data-do="link"]').focus(), true)`)
		for range 8 { // past the summary of the filter
			if p.Press(browserkit.Tab); browserkit.Eval[string](p, `document.activeElement.id`) == "canvas" {
				break
			}
		}
		if at := browserkit.Eval[string](p, `document.activeElement.id`); at != "canvas" {
			t.Fatalf("Tab leads to %q and not to the timeline", at)
		}
		wantShown(t, p, 0, 23)
		p.Press("+")
		wantShown(t, p, 5.75, 17.25)
		p.Press(browserkit.Right)
		wantShown(t, p, 9.2, 20.7)
		p.Press("-")
		wantShown(t, p, 0, 23)
		p.Press("+", "+", "0")
		wantShown(t, p, 0, 23)

		p.Press("n")
		if said := p.Text("#said"); !strings.HasPrefix(said, "mutual-exclusion-1 ") {
			t.Errorf("n says %q", said)
		}
		if from, to := shows(t, p); to-from > 6 || from > 1.9 || to < 4.2 {
			t.Errorf("n shows %v to %v", from, to)
		}
		p.ShotOf("timeline-finding", "#live")
		p.Press("n")
		if said := p.Text("#said"); !strings.HasPrefix(said, "stale-write-1 ") {
			t.Errorf("the second n says %q", said)
		}
		p.Press("n", "n", "n", "n", "n", "n")
		if said := p.Text("#said"); said != "no later finding" {
			t.Errorf("after the last finding n says %q", said)
		}
		p.Press("p")
		if said := p.Text("#said"); !strings.HasPrefix(said, "mutual-exclusion-3 ") {
			t.Errorf("p says %q", said)
		}
		p.Press(browserkit.Enter)
		if !browserkit.Eval[bool](p, `location.hash === "#v=mutual-exclusion-3" && document.getElementById("v=mutual-exclusion-3").open`) {
			t.Error("Enter does not open the story")
		}
	})

	t.Run("everything drawn, step by step and back", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{Hash: "#t=1.7-4.5"})
		browserkit.Eval[bool](p, `(document.getElementById("canvas").focus(), true)`)
		var forth, back []string
		for range 12 {
			p.Press(".")
			forth = append(forth, p.Text("#said"))
		}
		for range 11 {
			p.Press(",")
			back = append([]string{p.Text("#said")}, back...)
		}
		if a, z := strings.Join(forth[:11], "|"), strings.Join(back, "|"); a != z {
			t.Errorf("forth:\n%s\nback:\n%s", a, z)
		}
		all := strings.Join(forth, "\n")
		for _, want := range []string{"c1 was granted k1 token 54", "c1 paused 3.10 s", "write of "} {
			if !strings.Contains(all, want) {
				t.Errorf("nothing says %q in\n%s", want, all)
			}
		}
		p.Press(browserkit.Escape)
		p.Press("-")
		if !browserkit.Eval[bool](p, `document.getElementById("tip").hidden`) {
			t.Error("Escape leaves the tip")
		}
	})

	t.Run("by pointer", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{})
		p.Wheel("#canvas", middle, -120)
		wantShown(t, p, 0, 23) // the page scrolls, and the picture stays as it is
		p.Wheel("#canvas", middle, -120, browserkit.Ctrl)
		from, to := shows(t, p)
		if to-from > 20 || from <= 0 || to >= 23 {
			t.Errorf("the wheel shows %v to %v", from, to)
		}
		p.Drag("#canvas", browserkit.Point{X: .8, Y: .5}, browserkit.Point{X: .7, Y: .5})
		if a, z := shows(t, p); a <= from || math.Abs((z-a)-(to-from)) > .05 {
			t.Errorf("dragging shows %v to %v after %v to %v", a, z, from, to)
		}
		p.Click(`[data-do="fit"]`)
		p.Drag("#minimap", browserkit.Point{X: .4, Y: .5}, browserkit.Point{X: .6, Y: .5})
		if a, z := shows(t, p); z-a < 3 || z-a > 8 {
			t.Errorf("a stretch of the strip shows %v to %v", a, z)
		}
		p.Click(`[data-do="fit"]`)
		p.Hover("#canvas", at(p, 3, "c1"))
		if tip := p.Text("#tip"); !strings.HasPrefix(tip, "c1 was granted k1\ntoken 54\n") || !strings.Contains(tip, "its lease may have been over from 3.") {
			t.Errorf("over the paused hold the tip says %q", tip)
		}
		p.ClickAt("#canvas", findingAt(p, 0))
		if hash := browserkit.Eval[string](p, `location.hash`); hash != "#v=mutual-exclusion-1" {
			t.Errorf("a click on the first finding leads to %q", hash)
		}
	})

	t.Run("filter", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{})
		height := func() float64 {
			return browserkit.Eval[float64](p, `document.getElementById("canvas").getBoundingClientRect().height`)
		}
		all := height()
		p.Click("#filter summary")
		p.Click("#choose-clients [data-all=no]")
		p.Click("#choose-clients label:nth-of-type(2) input")
		p.Press(browserkit.Tab, " ")
		if phrase, now := p.Text("#filterwords"), height(); phrase != "c2, c3" || now >= all {
			t.Errorf("shown: %q, %v px tall after %v", phrase, now, all)
		}
		p.ShotOf("timeline-filter", "#live")
		p.Click(`[data-do="link"]`)
		if hash := browserkit.Eval[string](p, `location.hash`); hash != "#t=0-23&client=c2&client=c3" {
			t.Errorf("the link is %q", hash)
		}
		again := opened(t, b, path, browserkit.View{Hash: "#t=2-5&client=c2&client=c3"})
		if phrase := again.Text("#filterwords"); phrase != "c2, c3" {
			t.Errorf("the link shows %q", phrase)
		}
		wantShown(t, again, 2, 5)
	})

	t.Run("a key and the table before the next frame see what is shown now", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{})
		said := browserkit.Eval[string](p, `(() => {
			document.querySelectorAll("#choose-clients input").forEach((box, i) => { if (i !== 1) box.click(); });
			document.getElementById("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "." }));
			document.getElementById("inview").dispatchEvent(new Event("toggle"));
			return document.getElementById("said").textContent;
		})()`)
		if said == "" || strings.Contains(said, "nothing further") {
			t.Errorf("after the filter a key finds %q", said)
		}
	})

	t.Run("show in the timeline", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{Hash: "#v=stale-write-2"})
		p.Click(`[data-show="stale-write-2"]`)
		if said := p.Text("#said"); !strings.HasPrefix(said, "stale-write-2 ") {
			t.Errorf("it says %q", said)
		}
	})

	t.Run("as a table", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{Hash: "#t=1.7-4.5"})
		p.Click("#inview > summary")
		p.Until(`document.querySelectorAll("#inviewrows tr").length > 3`)
		if phrase := p.Text("#inviewrows"); !strings.Contains(phrase, "c1 was granted k1") || !strings.Contains(phrase, "mutual-exclusion-1") {
			t.Errorf("the table says %q", phrase)
		}
	})

	t.Run("in a browser that cannot unpack it", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{Before: `delete self.DecompressionStream`})
		p.Until(`document.documentElement.dataset.timeline`)
		if shown := browserkit.Eval[string](p, `["still", "live"].filter((id) => document.getElementById(id).getBoundingClientRect().height > 0).join()`); shown != "still" {
			t.Errorf("of the timelines it shows %q, want the still one alone", shown)
		}
	})
}

// at is where a moment (in seconds) of a client's lane is while the whole of the made-up run is shown.
func at(p *browserkit.Page, second float64, client string) browserkit.Point {
	place := browserkit.Eval[[]float64](p, fmt.Sprintf(`(() => {
		const T = runTimeline, c = document.getElementById("canvas"), data = JSON.parse(document.getElementById("data").textContent);
		data.leaders = data.leaders || [];
		const lanes = T.newLanes(data, {}), plot = T.newPlot({ from: 0, to: data.end, span: () => data.end }, c.clientWidth);
		return [plot.x(%v * 1e9) / c.clientWidth, (lanes.clientY[data.clients.indexOf(%q)] + 14) / lanes.height]; })()`, second, client))
	return browserkit.Point{X: place[0], Y: place[1]}
}

func findingAt(p *browserkit.Page, number int) browserkit.Point {
	second := browserkit.Eval[float64](p, fmt.Sprintf(`JSON.parse(document.getElementById("data").textContent).findings[%d].t / 1e9`, number))
	place := at(p, second, "c1")
	place.Y = browserkit.Eval[float64](p, `(runTimeline.HEAD + runTimeline.MARKS / 2) / document.getElementById("canvas").clientHeight`)
	return place
}

// A silence is painted in its client's lane, and can be pointed at and stepped to.
func TestTheTimelineShowsSilences(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Model.Clients = map[string]*model.Client{"c3": {Name: "c3", Silent: []model.Span{{FromNS: 21200e6, ToNS: 22600e6}}}}
	p := opened(t, browserkit.Start(t), written(t, j), browserkit.View{})
	const says = "c3 did not answer pings for 1.40 s\n21.200 s to 22.600 s"
	places := ""
	for _, client := range []string{"c3", "c2"} {
		for _, second := range []float64{22, 22.8} {
			place := at(p, second, client)
			places += fmt.Sprintf("[%v,%v],", place.X, place.Y)
		}
	}
	if in := browserkit.Eval[[]string](p, `(() => { const c = document.getElementById("canvas"), all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		return [`+places+`].map(([x, y]) => { const i = 4 * (Math.round(y * c.height) * c.width + Math.round(x * c.width)); return all.slice(i, i + 3).join(); }); })()`); in[0] == in[1] || in[2] != in[3] {
		t.Errorf("it is not painted in its lane, or in another's: %v", in)
	}
	p.Hover("#canvas", at(p, 22, "c3"))
	if tip := p.Text("#tip"); tip != says {
		t.Errorf("over it the tip says %q", tip)
	}
	browserkit.Eval[bool](p, `(location.hash = "#t=21.1-22.9", document.getElementById("canvas").focus(), true)`)
	for range 20 {
		if p.Press("."); strings.HasPrefix(p.Text("#said"), "c3 did not") {
			return
		}
	}
	t.Errorf("no step leads to it, the last to %q", p.Text("#said"))
}

func TestLinksToAWindowOfTime(t *testing.T) {
	b := browserkit.Start(t)
	path := written(t, testkit.EtcdPauseRun())
	t.Run("from the start", func(t *testing.T) {
		p := opened(t, b, path, browserkit.View{Hash: "#t=1.5-4"})
		wantShown(t, p, 1.5, 4)
		if top := browserkit.Eval[float64](p, `document.getElementById("timeline").getBoundingClientRect().top`); top < -5 || top > 450 {
			t.Errorf("the timeline is %v below the top of the window", top)
		}
		wantShown(t, opened(t, b, path, browserkit.View{Hash: "#%"}), 0, 23)
	})
	p := opened(t, b, path, browserkit.View{})
	for name, c := range map[string]struct {
		hash     string
		from, to float64
	}{
		"a window":            {"#t=1.5-4", 1.5, 4},
		"in the wrong order":  {"#t=4-1.5", 1.5, 4},
		"past the end":        {"#t=20-900", 0, 23},
		"all past the end":    {"#t=900-901", 22, 23},
		"no length":           {"#t=3-3", 3, 3},
		"nothing":             {"#t=", 0, 23},
		"half":                {"#t=3", 0, 23},
		"not numbers":         {"#t=NaN-Infinity", 0, 23},
		"an exponent":         {"#t=1e1-2e1", 0, 23},
		"negative":            {"#t=-5-3", 0, 23},
		"huge numbers":        {"#t=" + strings.Repeat("9", 400) + "-1", 0, 23},
		"a stray %":           {"#t=1-2&client=%E0%A4%A&lock=%", 1, 2},
		"only a %":            {"#%", 0, 23},
		"a broken story":      {"#v=%E0%A4%A", 0, 23},
		"markup":              {"#t=1-2&client=<img src=x onerror=alert(1)>", 1, 2},
		"names of everything": {"#t=1-2&__proto__=1&constructor=2&client=__proto__&client=constructor", 1, 2},
		"very long":           {"#t=1-2&client=" + strings.Repeat("c", 100_000), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p.Click(`[data-do="fit"]`)
			browserkit.Eval[string](p, fmt.Sprintf(`location.hash = %q`, c.hash))
			p.Frame()
			for _, complaint := range p.Complaints() {
				t.Error(complaint)
			}
			wantShown(t, p, c.from, c.to)
			if phrase := p.Text("#filterwords"); phrase != "everything" {
				t.Errorf("of names that are no clients it shows %q", phrase)
			}
		})
	}
}

// Zoomed out as far as can be, what matters has to be seen among the tens of thousands of operations beside it.
func TestARedMarkIsNeverLostByZoomingOut(t *testing.T) {
	b := browserkit.Start(t)
	calm := func() rundir.Judgement {
		j := rundir.Judgement{Result: &model.Result{Verdict: model.Pass}, Model: &model.Model{Complete: true}}
		r := &testkit.Builder{Model: j.Model, Token: 1000}
		const turns, turn = 20_000, int64(3e6)
		for i := range int64(turns) {
			at := i*turn + 1e6
			h := r.Hold(fmt.Sprint("c", i%2+1), "k1", at, at+turn/3)
			h.InvokeNS = at - 1000
			seq := r.Write(h, at+turn/4, "v", "", history.Applied)
			q := j.Model.Requests.At(int(seq) - 1)
			q.Mark = h.Token
			j.Model.Requests.Set(int(seq)-1, q)
		}
		j.Model.EndNS = (turns + 2) * turn
		return j
	}
	const chosen = 13_333
	if n := loud(opened(t, b, written(t, calm()), browserkit.View{})); n != 0 {
		t.Fatalf("%d pixels are red or coloured where nothing is to be seen", n)
	}
	for name, spoil := range map[string]func(*rundir.Judgement){
		"a lease that was outlived": func(j *rundir.Judgement) { h := j.Model.Holds[chosen]; h.LeaseNS = h.DoneNS + 10_000 },
		"a rejected write": func(j *rundir.Judgement) {
			q := j.Model.Requests.At(chosen)
			q.Outcome = history.Rejected
			j.Model.Requests.Set(chosen, q)
		},
		"a hold and a write of a finding": func(j *rundir.Judgement) {
			h := j.Model.Holds[chosen]
			j.Result.Properties = []model.Property{{Name: model.StaleWrite, Verdict: model.Violation, Count: 1, Findings: []model.Finding{
				{ID: "stale-write-1", Key: "k1", AtNS: h.DoneNS, FromNS: h.DoneNS, ToNS: h.DoneNS + 1e6, Holds: []string{h.ID}, Requests: []int64{chosen + 1}}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := calm()
			spoil(&j)
			p := opened(t, b, written(t, j), browserkit.View{})
			if n := loud(p); n < 6 {
				t.Errorf("%d red or coloured pixels", n)
			}
			p.ShotOf("timeline-"+strings.ReplaceAll(name, " ", "-"), "#live")
		})
	}
}

// loud counts the pixels of the timeline that are of a colour and no shade of grey.
func loud(p *browserkit.Page) int {
	return browserkit.Eval[int](p, `(() => {
		const from = document.getElementById("canvas"), copy = document.createElement("canvas");
		copy.width = from.width; copy.height = from.height;
		const pen = copy.getContext("2d", { willReadFrequently: true });
		pen.drawImage(from, 0, 0);
		const pixels = pen.getImageData(0, 0, copy.width, copy.height).data;
		let n = 0;
		for (let i = 0; i < pixels.length; i += 4) if (Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 60) n++;
		return n; })()`)
}

// The scripts of the timeline write a length of time as everything else on the page does.
func TestTheTimelineWritesDurationsAsThePageDoes(t *testing.T) {
	p := opened(t, browserkit.Start(t), written(t, testkit.EtcdPauseRun()), browserkit.View{})
	for _, ns := range []int64{0, 1, 999, 1600, 999_400, 1.5e6, 99.94e6, 250e6, 999.4e6, 1.2e9, 9.99e9, 12.345e9, 3600e9} {
		if got, want := browserkit.Eval[string](p, fmt.Sprintf(`runTimeline.lasting(%d)`, ns)), history.Duration(ns); got != want {
			t.Errorf("%d ns are %q in the timeline, and %q elsewhere", ns, got, want)
		}
	}
}
