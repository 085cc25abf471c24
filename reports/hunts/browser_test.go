//go:build e2e

package hunts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// The page opens from disk and asks for nothing, and its links lead somewhere, in a narrow window, too.
func TestTheHuntInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	dir := t.TempDir()
	r := sample()
	r.Runs, r.Finds = append(r.Runs[:4], r.Runs[5]), r.Finds[:2]
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
		if wide := p.Wide(); wide > float64(v.Width) {
			t.Errorf("in a window of %d the page is %v wide", v.Width, wide)
		}
		if broken := p.BrokenLinks(); broken != nil {
			t.Errorf("these lead nowhere: %q", broken)
		}
		p.Follow("#find-1 a", "the report")
	}
}
