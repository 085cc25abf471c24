package page

import (
	"os"
	"testing"

	"lockcheck/checker"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

// pictured is the recording whose report the picture in the README shows.
const pictured = "testdata/example"

var picture = testkit.Picture{File: "../example.png", Before: `id="timeline"`,
	Retake: "LOCKCHECK_PICTURES=write go test -tags e2e ./reports/page -run TestThePictureOfTheReport"}

// example writes the report of the recording in the repository.
func example(t *testing.T) (path string) {
	t.Helper()
	copied := t.TempDir() + "/20261129T120000-etcd-lock-pause-7"
	if err := os.CopyFS(copied, os.DirFS(pictured)); err != nil {
		t.Fatal(err)
	}
	d, err := rundir.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	recording, shut, err := d.OpenRecording()
	if err != nil {
		t.Fatal(err)
	}
	defer shut()
	result, model, err := checker.Check(recording, checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(d, rundir.Judgement{Plan: recording.Plan, Result: result, Model: model}); err != nil {
		t.Fatal(err)
	}
	return d.ReportPath()
}

// The picture in the README shows what the program says today.
func TestThePictureHasTheProgramsWords(t *testing.T) { picture.WantWords(t, example(t)) }
