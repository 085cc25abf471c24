package svg

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

func TestFiguresSayWhatTheyShow(t *testing.T) {
	j := testkit.EtcdPauseRun()
	all := Charts(j)
	pace := all[0]
	if got := strings.Join(pace.Rows[0], " | "); got != "0.000 s | 0.500 s | 40 | 0 | 0 | 100.0 %" {
		t.Errorf("pace begins with %s", got)
	}
	if last := pace.Rows[len(pace.Rows)-1]; last[5] != "–" {
		t.Errorf("availability after the load phase is %s", last[5])
	}
	takeOver := all[4]
	if got := strings.Join(takeOver.Rows[0], " | "); got != "16.000 s | 2.00 s | c1 | c2 | k1 | clock skew" {
		t.Errorf("the longest take-over is %s", got)
	}
	var symbols []string
	for _, l := range takeOver.Legend {
		if l.Symbol != "" {
			symbols = append(symbols, l.Symbol+" "+l.Words)
		}
	}
	if got := strings.Join(symbols, ", "); got != "✕ after a death, ○ after a pause, □ after a partition, △ after a fault of another kind" {
		t.Errorf("told apart by shape: %s", got)
	}
}

// A fault that is added to the table is drawn, and called by its noun or not at all: nothing here knows the faults by name.
func TestShapesFollowFromTheTableOfFaults(t *testing.T) {
	faults := history.Faults()
	for i, fault := range faults {
		j := testkit.EtcdPauseRun()
		j.Model.Series.TakeOvers = []model.Delay{{DelayNS: 1e9, After: fault.One}}
		want := "△ after a fault of another kind"
		if i < len(faultShapes) {
			want = faultShapes[i].symbol + " after a " + fault.One
		}
		if legend := Charts(j)[4].Legend[0]; legend.Symbol+" "+legend.Words != want {
			t.Errorf("a take-over after a %s is drawn as %s %s, want %s", fault.One, legend.Symbol, legend.Words, want)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, _ := strconv.Unquote(lit.Value); slices.ContainsFunc(faults, func(w history.FaultKind) bool { return text == string(w.Name) || text == w.One }) {
					t.Errorf("%s names the fault %q", file, text)
				}
			}
			return true
		})
	}
}

func TestFiguresOfRunsInWhichNothingWasDone(t *testing.T) {
	for _, c := range Charts(rundir.Judgement{Model: &model.Model{}, Result: &model.Result{}}) {
		if c.Sheet != nil || c.Empty == "" {
			t.Errorf("%s: drawn, or not said why not", c.ID)
		}
	}
}

func TestFiguresAreBoundedForAnyRun(t *testing.T) {
	const faults = 50_000
	j := testkit.EtcdPauseRun()
	j.Model.EndNS = 1 << 60
	for i := range int64(faults) {
		at := i * (j.Model.EndNS / faults)
		j.Model.Faults = append(j.Model.Faults, &model.Fault{Name: history.F(fmt.Sprint("kind", i%9)), Target: "n1", BeginNS: at, EffectiveNS: at, HealNS: at + 1e6})
	}
	for i := range int64(1000) {
		j.Model.Series.TakeOvers = append(j.Model.Series.TakeOvers, model.Delay{FromNS: i * 1e15, DelayNS: i, Next: strings.Repeat("x", 1000)})
	}
	j.Result.Stats.TakeOver.Count = 1_000_000
	for _, c := range Charts(j) {
		size := 0
		for _, s := range c.Sheet.Shapes {
			size += len(s.D) + len(s.Title) + len(s.Text) + 100
		}
		if size > 300<<10 || len(c.Rows) > 1000 {
			t.Errorf("%s takes %d bytes and has %d rows", c.ID, size, len(c.Rows))
		}
	}
	if c := Charts(j)[4]; len(c.Rows) != maxDelayRows || c.LeftOut != "The longest of 1,000,000." {
		t.Errorf("%d rows; %q", len(c.Rows), c.LeftOut)
	}
}

func TestScales(t *testing.T) {
	for _, highest := range []float64{0, 1, 40, 99, 1e6} {
		s := fromZero(highest, shortNumber)
		if s.high < highest || s.share(0) != 0 || s.share(s.high) != 1 || s.share(-1) != 0 || s.share(2*s.high) != 1 {
			t.Errorf("up to %v: %+v", highest, s)
		}
	}
	for _, q := range [][2]int64{{0, 0}, {1, 1}, {300e3, 2.8e9}, {5e6, 5e6}, {1, math.MaxInt64}} {
		s := byTens(q[0], q[1])
		labels := map[string]bool{}
		for _, tick := range s.ticks() {
			labels[tick.label] = true
			if share := s.share(tick.at); math.IsNaN(share) || share < 0 || share > 1 {
				t.Errorf("%v: the tick %+v is at %v", q, tick, share)
			}
		}
		if n := len(s.ticks()); n < 3 || n > 5 || len(labels) != n || s.share(float64(q[1])) > 1 || float64(q[1]) > s.high*1.001 {
			t.Errorf("%v: %+v with ticks %v", q, s, labels)
		}
	}
	for v, want := range map[float64]string{0: "0", 1e9: "1 s", 2.5e9: "2.5 s", 5e8: "500 ms", 1e3: "1 µs", 10: "10 ns"} {
		if got := roundSpan(v); got != want {
			t.Errorf("roundSpan(%v) is %q, want %q", v, got, want)
		}
	}
}

func TestFaultsInForceAreJoined(t *testing.T) {
	m := &model.Model{EndNS: 100e9, Faults: []*model.Fault{
		{Name: "pause", EffectiveNS: 10e9, HealNS: 20e9}, {Name: "pause", EffectiveNS: 15e9, HealNS: 30e9}, {Name: "pause", EffectiveNS: 50e9, HealNS: 60e9},
		{Name: "kill", EffectiveNS: 90e9, HealNS: 90e9}, {Name: "kill", BeginNS: 5e9, Error: "did not take"},
	}}
	bands := faultBands(m, axis{from: 0, to: 100e9, x0: 0, x1: 100})
	if len(bands) != 2 || bands[0].name != "pause" || !slices.Equal(bands[0].at, [][2]float64{{10, 30}, {50, 60}}) || !slices.Equal(bands[1].at, [][2]float64{{90, 91}}) {
		t.Errorf("bands %+v", bands)
	}
}

func TestALineBreaksWhereNothingIsKnown(t *testing.T) {
	p := &plot{sheet: &Sheet{}, axis: axis{from: 0, to: 10, x0: 0, x1: 10}}
	n := &panel{plot: p, scale: scale{high: 1}}
	n.line("x", []point{{0, 0, true}, {1, 0, true}, {2, 0, false}, {5, 0, true}, {6, 0, false}, {8, 0, true}, {9, 0, true}})
	if got := p.sheet.Shapes[0].D; got != "M0 88L1 88M3 88h4M8 88L9 88" {
		t.Errorf("the line is %s", got)
	}
}
