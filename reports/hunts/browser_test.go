//go:build e2e

package hunts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// The page opens from disk and asks for nothing, and its links lead somewhere, in a narrow window, too.
func TestTheHuntInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	dir := t.TempDir()
	r := sample()
	r.Runs, r.Finds = append(r.Runs[:4], r.Runs[5]), r.Finds[:2]
	r.Runs[3].Barren = "no server in /srv/" + strings.Repeat("redis-server", 20)
	where := filepath.Join(dir, "runs", "cell-2", "a b#1?%")
	if err := os.MkdirAll(where, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(where, "report.html"), []byte("<!DOCTYPE html><meta charset=utf-8><title>the report</title>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, v := range []browserkit.View{{Width: 420, Height: 800}, {Width: 1280, Height: 800}, {Width: 1280, Height: 800, Dark: true}} {
		p := b.Open(t, filepath.Join(dir, HTMLFile), v)
		p.ShotWhole(fmt.Sprintf("hunt-%d-%t", v.Width, v.Dark))
		browserkit.Eval[bool](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
		if wide := p.Wide(); wide > float64(v.Width) {
			t.Errorf("in a window of %d the opened page is %v wide", v.Width, wide)
		}
		const hints = `[...document.querySelectorAll(".scroll")].filter((s) => s.scrollWidth > s.clientWidth !== (getComputedStyle(s, "::before").content !== "none")).length`
		if wrong := browserkit.Eval[int](p, hints); wrong > 0 {
			t.Errorf("in a window of %d %d parts are wider without a hint, or have one for nothing", v.Width, wrong)
		}
		if broken := p.BrokenLinks(); broken != nil {
			t.Errorf("these lead nowhere: %q", broken)
		}
		p.Follow("#find-1 a", "the report")
	}
}
