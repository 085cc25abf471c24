//go:build e2e

package page

import (
	"os"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
	"lockcheck/reports/testkit/browserkit"
)

// explore does to a report what a reader might do, so that everything it can show is shown.
func explore(t *testing.T, p *browserkit.Page) {
	t.Helper()
	browserkit.Eval[bool](p, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), document.getElementById("canvas").focus(), true)`)
	p.Press("n", ".", ".", ".", ",", "+", "+", "-", "l", "0", browserkit.Enter)
	p.Hover("#canvas", browserkit.Point{X: .5, Y: .4})
	p.ClickAt("#canvas", browserkit.Point{X: .3, Y: .6})
	p.Click("#theme")
	if p.Count("#choose-clients input") > 1 {
		p.Click("#choose-clients input")
	}
	p.Frame()
}

// All that a history says is text. Scripts, handlers, addresses: none of it is run or fetched (the kit would complain, and
// the payloads leave a mark), and the page works as ever.
func TestAHostileHistoryDoesNoHarm(t *testing.T) {
	b := browserkit.Start(t)
	for name, hostile := range map[string]string{
		"script":         `</script><script>self.pwned = 1; alert(1)</script>`,
		"handler":        `"><img src=x onerror="self.pwned = 1">`,
		"quotes":         `' onmouseover='self.pwned = 1' x="`,
		"end of drawing": `</svg></title></style><iframe src="javascript:self.pwned=1"></iframe>`,
		"comment":        `<!--<script>self.pwned = 1`,
		"address":        `javascript:self.pwned=1//http://127.0.0.1:65535/x`,
		"characters":     "\u2028\u2029\x00\ufeff\u202e\\u0027${self.pwned=1}`",
		"not UTF-8":      "\xff\xfe\x80<b>",
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, b, written(t, testkit.HostileRun(hostile)), browserkit.View{})
			explore(t, p)
			if browserkit.Eval[bool](p, `"pwned" in self || document.querySelector("iframe, img, main script, aside script") !== null`) {
				t.Error("it was taken for markup")
			}
			if name == "script" {
				p.ShotWhole("report-hostile")
				if phrase := p.Text("#choose-clients"); !strings.Contains(phrase, hostile) {
					t.Errorf("clients are called %q", phrase)
				}
			}
		})
	}
}

func TestRunsAtTheEdge(t *testing.T) {
	b := browserkit.Start(t)
	fault := &model.Fault{Op: 1, Name: "pause", Target: "n1", Role: "server", BeginNS: 1e9, EffectiveNS: 1e9}
	result := func() *model.Result { return &model.Result{Verdict: model.Inconclusive} }
	huge := testkit.EtcdPauseRun()
	long := strings.Repeat("a very long <b>name</b> ", 4000) // 92 kB
	for _, h := range huge.Model.Holds {
		h.Key = long
		h.Token = strings.Repeat("9", 5000)
	}
	for i := range huge.Model.Requests.Len() {
		q := huge.Model.Requests.At(i)
		q.Key, q.Value, q.Token = long, long, strings.Repeat("9", 5000)
		huge.Model.Requests.Set(i, q)
	}
	for i := range huge.Result.Properties {
		for k := range huge.Result.Properties[i].Findings {
			f := &huge.Result.Properties[i].Findings[k]
			f.Key, f.Summary = long, f.Summary+long
		}
	}
	for name, j := range map[string]rundir.Judgement{
		"no operations": {Result: result(), Model: &model.Model{}},
		"only faults": {Result: result(), Model: &model.Model{EndNS: 2e9, Faults: []*model.Fault{fault,
			{Op: 2, Name: "kill", Target: "c1", BeginNS: 1.5e9, Error: "no such process"}, {Op: 3, Name: "partition", Target: "n2"}}}},
		"acquires without an answer": {Result: result(), Model: &model.Model{EndNS: 3e9, Holds: []*model.Hold{
			{ID: "h1", Key: "k", Client: "c1", InvokeNS: 1e9, Outcome: history.Invoke}, {ID: "h2", Key: "k", Client: "c2", InvokeNS: 2e9, DoneNS: 2.5e9, Outcome: history.Fail}}}},
		"one moment": {Result: result(), Model: &model.Model{EndNS: 1, Holds: []*model.Hold{{ID: "h1", Key: "k", Client: "c1", InvokeNS: 1, DoneNS: 1, BelievedNS: 1, Outcome: history.OK}}}},
		"a year":     {Result: result(), Model: &model.Model{EndNS: 365 * 86400e9, Holds: []*model.Hold{{ID: "h1", Key: "k", Client: "c1", DoneNS: 86400e9, BelievedNS: 300 * 86400e9, Outcome: history.OK}}}},
		"huge texts": huge,
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, j)
			p := opened(t, b, path, browserkit.View{})
			explore(t, p)
			p.ShotOf("timeline-"+strings.ReplaceAll(name, " ", "-"), "#live")
			if wide := browserkit.Eval[float64](p, `document.documentElement.scrollWidth`); wide > 1280 {
				t.Errorf("the page is %v wide in a window of 1280", wide)
			}
			if file, err := os.Stat(path); err != nil || file.Size() > 20<<20 {
				t.Errorf("the report has %d bytes (%v)", file.Size(), err)
			}
		})
	}
}
