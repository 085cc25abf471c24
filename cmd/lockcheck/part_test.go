package main

import (
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

// part writes a comparison of one cell, which is not as expected.
func part(t *testing.T) (dir string) {
	t.Helper()
	return partOf(t, model.Violation)
}

// calmPart writes a comparison of one cell, which is as expected.
func calmPart(t *testing.T) (dir string) {
	t.Helper()
	return partOf(t, model.Pass)
}

func partOf(t *testing.T, verdict model.Verdict) (dir string) {
	t.Helper()
	cell := compare.Cell{Backend: "etcd", Nemesis: "none", Workload: "lock"}
	run := compare.Run{Seed: 1, Verdict: verdict, Sentence: "S", Properties: []compare.Property{{Name: model.StaleWrite, Verdict: verdict, Count: 1}}}
	c := &compare.Comparison{StartedAt: time.Unix(0, 0), Expecting: true, File: "lockcheck.yaml", Shard: compare.Whole, Matrix: []compare.Cell{cell}, Cells: []compare.Result{
		compare.NewResult(cell, &compare.Expectation{File: "lockcheck.yaml", Line: 7, Reason: "nothing disturbs"}, []compare.Run{run}, 1),
	}}
	c.Finish()
	dir = t.TempDir()
	if err := compare.WriteFiles(dir, c, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}
