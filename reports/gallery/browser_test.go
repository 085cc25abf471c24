//go:build e2e

package gallery

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// The page opens from disk and asks for nothing, and its links lead somewhere, in a narrow window, too.
func TestTheGalleryInABrowser(t *testing.T) {
	b := browserkit.Start(t)
	dir := t.TempDir()
	r := sampleRecord()
	r.Items = r.Items[:3]
	if err := os.MkdirAll(filepath.Join(dir, "runs", "a b#1?%"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", "a b#1?%", "report.html"), []byte("<!DOCTYPE html><meta charset=utf-8><title>the report</title>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{390, 1280} {
		p := b.Open(t, filepath.Join(dir, HTMLFile), browserkit.View{Width: width, Height: 800})
		p.ShotWhole(fmt.Sprintf("gallery-%d", width))
		if wide := p.Wide(); wide > float64(width) {
			t.Errorf("in a window of %d the page is %v wide", width, wide)
		}
		if broken := p.BrokenLinks(); broken != nil || p.Count("a") < 6 {
			t.Errorf("of %d links these lead nowhere: %q", p.Count("a"), broken)
		}
		p.Follow(".matrix td a", "the report")
	}
}
