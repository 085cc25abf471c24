package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

func TestTheHeadOfTheReportNamesTheRunAndItsDirectory(t *testing.T) {
	out := t.TempDir()
	plan := history.Plan{Version: history.FormatVersion, Run: "20260102t030405z-7-99", Backend: "etcd", Workload: "lock", Nemesis: "pause", Seed: 7}
	d, err := rundir.Create(out, plan, time.Date(2026, 1, 2, 5, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	latest, err := rundir.Open(filepath.Join(out, "latest"))
	if err != nil {
		t.Fatal(err)
	}
	const name = "20260102T050405-etcd-lock-pause-7"
	for dir, want := range map[*rundir.Dir]string{
		d:                   name,
		latest:              name,
		latest.ForReading(): name + "/failed-as-info",
	} {
		j := testkit.EtcdPauseRun()
		j.Plan.Run = plan.Run
		if err := os.MkdirAll(dir.Path(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, j); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(dir.ReportPath())
		if err != nil {
			t.Fatal(err)
		}
		if head := "run 20260102t030405z-7-99, in the directory " + want + "<"; !strings.Contains(string(page), head) {
			t.Errorf("%s does not say %q", dir.ReportPath(), head)
		}
	}
}
