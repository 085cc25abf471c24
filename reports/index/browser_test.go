//go:build e2e

package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit/browserkit"
)

// written is the page of runs and comparisons of which one changed in everything, one has a report, one was stopped, and one is called
// what no directory should be called.
func written(t *testing.T) (path, first string) {
	t.Helper()
	out := t.TempDir()
	first = run(t, out, "etcd", 1, model.Pass, calm)
	run(t, out, "etcd", 2, model.Violation, nil)
	run(t, out, "redis", 3, "", nil)
	report := "<!DOCTYPE html><meta charset=utf-8><title>report of " + first + "</title>"
	if err := os.WriteFile(filepath.Join(out, first, rundir.ReportFile), []byte(report), 0o644); err != nil {
		t.Fatal(err)
	}
	cell := compare.Cell{Backend: "etcd", Nemesis: "pause:" + strings.Repeat("holder@work,", 40) + "2ttl", Workload: "lock"}
	tasks := []compare.Task{{Cell: cell, Flags: []compare.Flag{{Name: "backend", Value: "etcd"}}, Repeat: 1}}
	for i, name := range []string{"compare-20261120T050000", `odd "name" <b>#1?%20`} {
		dir := filepath.Join(out, name)
		r := compare.NewResult(cell, nil, []compare.Run{{Verdict: model.Violation, Incidents: int64(i) + 1}}, 1)
		c := &compare.Comparison{Shard: compare.Whole, Matrix: []compare.Cell{cell}, Basis: compare.NewBasis("v", 1, tasks), Cells: []compare.Result{r}}
		c.Finish()
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := compare.WriteFiles(dir, c, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(out, time.Now()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(out, File), first
}

// The page opens from disk and asks for nothing, and its links lead to the reports beside it, whatever their directories are called.
func TestTheIndexInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	path, first := written(t)

	t.Run("its links lead somewhere", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{})
		if rows, links := p.Count("tbody tr"), p.Count("tbody td:nth-child(2) a"); rows != 5 || links != rows {
			t.Errorf("%d rows with %d links", rows, links)
		}
		if broken := p.BrokenLinks(); broken != nil {
			t.Errorf("these lead nowhere: %q", broken)
		}
		if text := p.Text("tbody"); !strings.Contains(text, "…: 1 → 2") {
			t.Errorf("a long name hides what changed:\n%s", text)
		}
		p.ShotWhole("index-light")
		p.Follow(`tbody td:last-child a[href*="`+first+`"]`, "report of "+first)
	})

	t.Run("dark", func(t *testing.T) {
		light, dark := b.Open(t, path, browserkit.View{}), b.Open(t, path, browserkit.View{Dark: true})
		dark.ShotWhole("index-dark")
		for _, selector := range []string{"body", "h1", "tbody a", "small"} {
			if in, out := light.Brightness(selector, "color"), dark.Brightness(selector, "color"); out <= in {
				t.Errorf("%s has letters of brightness %v in the light and %v in the dark", selector, in, out)
			}
		}
		if in, out := light.Brightness("body", "backgroundColor"), dark.Brightness("body", "backgroundColor"); in < 600 || out > 165 {
			t.Errorf("the ground is of brightness %v in the light and %v in the dark", in, out)
		}
	})

	for _, width := range []int{390, 1280} {
		t.Run(fmt.Sprintf("in a window of %d", width), func(t *testing.T) {
			p := b.Open(t, path, browserkit.View{Width: width, Height: 800})
			p.ShotWhole(fmt.Sprintf("index-%d", width))
			if wide := p.Wide(); wide > float64(width) {
				t.Errorf("the page is %v wide", wide)
			}
			const narrowest = `Math.min(...[...document.querySelectorAll("tbody td")].map((td) => td.getBoundingClientRect().width))`
			if narrow := browserkit.Eval[float64](p, narrowest); narrow < 90 {
				t.Errorf("a column is %v wide: words are broken letter by letter", narrow)
			}
		})
	}
}
