package compare

import (
	"os"
	"path/filepath"
	"testing"

	"lockcheck/reports/testkit"
)

// pictured is the record of the comparison that the picture in reports/README.md shows.
const pictured = "testdata/example"

var picture = testkit.Picture{File: "../compare-example.png", Before: `<section id="cells">`,
	Retake: "LOCKCHECK_PICTURES=write go test -tags e2e ./reports/compare -run TestThePictureOfTheComparison"}

// example writes the page of the record in the repository.
func example(t *testing.T) (path string) {
	t.Helper()
	c, err := ReadDir(pictured)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), HTMLFile)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := HTML(file, c); err != nil {
		t.Fatal(err)
	}
	return path
}

// The picture on the page about comparisons shows what the program says today.
func TestThePictureHasTheProgramsWords(t *testing.T) { picture.WantWords(t, example(t)) }
