package reports

import (
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	path := os.Getenv("REPORT_LOOK")
	if path == "" {
		t.Skip()
	}
	d := &Dir{path: path}
	if err := d.WriteReport(etcdPauseRun()); err != nil {
		t.Fatal(err)
	}
	Summary(os.Stdout, etcdPauseRun(), d, SummaryOptions{Color: true, Width: 110})
	Summary(os.Stdout, etcdPauseRun(), d, SummaryOptions{Color: false, Width: 80})
}
