//go:build e2e

package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// writtenPage is the page of two leases, with the reports of their runs.
func writtenPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := withLeases()
	long := strings.Repeat("holder@work,", 20)
	for i := range c.Cells {
		c.Cells[i].Nemesis = "pause:" + long + c.Cells[i].Nemesis
		for n := range c.Cells[i].Runs {
			run := &c.Cells[i].Runs[n]
			run.Dir, run.Report = "runs/a b#1?%", "runs/a b#1?%/report.html"
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs", "a b#1?%"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", "a b#1?%", "report.html"), []byte("<!DOCTYPE html><meta charset=utf-8><title>the report</title>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, HTMLFile)
}

// The page of a comparison, with its leases side by side, opens from disk and asks for nothing, in the light, in the dark and in a
// narrow window.
func TestTheComparisonInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	path := writtenPage(t)

	t.Run("its leases stand side by side", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{})
		if n := p.Count(".ttls table"); n != 2 {
			t.Fatalf("%d tables of leases", n)
		}
		p.ShotOf("compare-leases", ".ttls")
		const side = `(() => { const row = [...document.querySelectorAll(".ttls tbody tr")].find((tr) => tr.cells[0].innerText === "take-over, median");
			const at = [...row.cells].map((c) => c.getBoundingClientRect()); return at[1].top === at[2].top && at[1].right <= at[2].left && row.innerText.split("\t").slice(1).join("|"); })()`
		if got := browserkit.Eval[string](p, side); got != "1.25 s (of 4)|6.00 s (of 2)" {
			t.Errorf("the medians are %q", got)
		}
		if broken := p.BrokenLinks(); broken != nil || p.Count("a") < 10 {
			t.Errorf("of %d links these lead nowhere: %q", p.Count("a"), broken)
		}
		p.Follow(".matrix a", "the report")
	})

	t.Run("dark", func(t *testing.T) {
		light, dark := b.Open(t, path, browserkit.View{}), b.Open(t, path, browserkit.View{Dark: true})
		dark.ShotWhole("compare-leases-dark")
		for _, selector := range []string{".ttls td", ".ttls th", ".ttls h2"} {
			if in, out := light.Brightness(selector, "color"), dark.Brightness(selector, "color"); out <= in {
				t.Errorf("%s has letters of brightness %v in the light and %v in the dark", selector, in, out)
			}
		}
	})

	t.Run("narrow", func(t *testing.T) {
		p := b.Open(t, path, browserkit.View{Width: 390, Height: 800})
		p.ShotWhole("compare-leases-narrow")
		if wide := p.Wide(); wide > 390 {
			t.Errorf("the page is %v wide in a window of 390", wide)
		}
	})
}
