//go:build e2e

package page

import (
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// With LOCKCHECK_PICTURES=write the picture in the README is taken anew.
func TestThePictureOfTheReport(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(browserkit.ShotsVariable, folder)
	path := example(t)
	browserkit.Start(t).Open(t, path, browserkit.View{Width: 1100, Height: 2650}).Shot("report")
	png, err := os.ReadFile(filepath.Join(folder, "report.png"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LOCKCHECK_PICTURES") != "write" {
		return
	}
	picture.Write(t, png, path)
}
