//go:build e2e

package compare

import (
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// With LOCKCHECK_PICTURES=write the picture on the page about comparisons is taken anew.
func TestThePictureOfTheComparison(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(browserkit.ShotsVariable, folder)
	path := example(t)
	browserkit.Start(t).Open(t, path, browserkit.View{Width: 1100, Height: 820}).Shot("compare")
	png, err := os.ReadFile(filepath.Join(folder, "compare.png"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LOCKCHECK_PICTURES") == "write" {
		picture.Write(t, png, path)
	}
}
