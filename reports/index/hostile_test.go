package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// The user may have been asked something before the page is written: how long that took takes nothing from the time to read.
func TestTheTimeToReadBeginsWhenItIsRead(t *testing.T) {
	out := t.TempDir()
	run(t, out, "etcd", 1, model.Pass, calm)
	if err := Write(out, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, File))
	if err != nil || !strings.Contains(string(text), "</span>pass</td>") || strings.Contains(string(text), "not read") {
		t.Errorf("the run was not read (%v):\n%s", err, text)
	}
}

// A comparison that says nothing of its cells, or is none, has no verdict, least of all a pass; nor does a cell that is not as it
// should be pass with all others.
func TestNothingIsNoPass(t *testing.T) {
	cell := `{"backend": "etcd", "nemesis": "pause", "workload": "lock", "verdict": "violation", "outcome": "%s"}`
	for text, want := range map[string]string{
		`{}`:                          "no verdict",
		`null`:                        "no verdict",
		`{"version": 1}`:              "no verdict",
		`{"version": 1, "cells": []}`: "no verdict",
		`{"version": 99, "cells": [` + fmt.Sprintf(cell, "met") + `]}`:   "no verdict",
		`{"version": 1, "cells": [` + fmt.Sprintf(cell, "unmet") + `]}`:  "inconclusive",
		`{"version": 1, "cells": [` + fmt.Sprintf(cell, "nobody") + `]}`: "inconclusive",
		`{"version": 1, "cells": [` + fmt.Sprintf(cell, "met") + `]}`:    "pass",
	} {
		out := t.TempDir()
		dir := filepath.Join(out, "compare-20260102T030405")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, compare.JSONFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		all, _ := rows(t, out)
		if len(all) != 1 || !strings.Contains(all[0], "</span>"+want+"</td>") {
			t.Errorf("%s: want %s:\n%s", text, want, all)
		}
	}
}

// However long what files and names say is, the page has a bound, and it says nothing that cannot be seen.
func TestLongTextsAreCut(t *testing.T) {
	out := t.TempDir()
	long := strings.Repeat("long ", maxFile/10)
	for n := range 2 {
		run(t, out, "etcd", n, model.Violation, func(j *rundir.Judgement) {
			j.Result.Reason, j.Plan.Nemesis, j.Plan.Versions = long, "pause"+long, map[string]string{long: fmt.Sprint(n)}
			j.Result.Verdict = model.Verdict(fmt.Sprint("odd", long, n))
		})
	}
	turned := filepath.Join(out, "20261120T020000-etcd-lock-\u202Enone-1")
	if err := errors.Join(os.Mkdir(turned, 0o755), os.WriteFile(filepath.Join(turned, compare.JSONFile), []byte("torn"), 0o644)); err != nil {
		t.Fatal(err)
	}
	all, page := rows(t, out)
	if len(page) > 20_000 || len(all) != 3 {
		t.Errorf("the page has %d bytes, %d rows", len(page), len(all))
	}
	has(t, page, []string{"etcd / pauselong long", "%E2%80%AE", "lock-·none"}, "\u202E")
}
