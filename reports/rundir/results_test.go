package rundir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit"
)

func TestTwoChecksOfARunDifferInTheirTimeOnly(t *testing.T) {
	d := testkit.Dir(t, "run")
	read := func(now time.Time) string {
		if err := d.WriteResults(testkit.EtcdPauseRun(), now); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(d.Path(), rundir.ResultsFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first, second := read(morning), read(morning.Add(26*time.Hour))
	if first == second {
		t.Error("checked_at did not change")
	}
	line := regexp.MustCompile(`(?m)^  "checked_at": "[^"]*",\n`)
	if a, b := line.ReplaceAllString(first, ""), line.ReplaceAllString(second, ""); a != b {
		t.Error("two checks differ in more than checked_at")
	}
	if len(line.FindAllString(first, -1)) != 1 {
		t.Error("checked_at is not one line of its own")
	}
}

func TestResultsNeverSayNull(t *testing.T) {
	for name, j := range map[string]rundir.Judgement{
		"empty": {Result: &model.Result{}, Model: &model.Model{}},
		"bare finding": {Result: &model.Result{Properties: []model.Property{{Name: model.StaleWrite,
			Findings: []model.Finding{{ID: "stale-write-1"}}}, {Name: model.Liveness}}}, Model: &model.Model{}},
		"real": testkit.EtcdPauseRun(),
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := rundir.NewResults(j, morning).Encode(&out); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "null") {
				t.Errorf("a program has to handle null in\n%s", out.String())
			}
		})
	}
}

func TestResultsHoldThePlansMainFields(t *testing.T) {
	var out strings.Builder
	if err := rundir.NewResults(testkit.EtcdPauseRun(), morning).Encode(&out); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"backend": "etcd", "client": "etcd concurrency 3.7.3", "workload": "lock", "nemesis": "pause",
		"guard": "before-work", "provider": "local", "seed": 7.0, "ttl_ms": 1000.0, "effective_ttl_ms": 2000.0,
		"verdict": "violation", "run": "20261120T171448-etcd-lock-pause-7", "checked_at": "2026-11-20T02:00:00Z"}
	for field, value := range want {
		if got[field] != value {
			t.Errorf("%s is %v, want %v", field, got[field], value)
		}
	}
	for _, field := range []string{"properties", "exposure", "stats", "versions"} {
		if got[field] == nil {
			t.Errorf("%s is missing", field)
		}
	}
}

func TestResultsHoldTheFiguresOfQueues(t *testing.T) {
	j := testkit.EtcdPauseRun()
	j.Result.Stats = model.Stats{AttemptsPerGrant: 3.2, Overtakes: 4, ClientDeaths: 2}
	var out strings.Builder
	if err := rundir.NewResults(j, morning).Encode(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"attempts_per_grant": 3.2,`, `"overtakes": 4,`, `"client_deaths": 2,`, `"incidents": 3,`, `"incident": "h54",`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("results.json lacks %s", want)
		}
	}
}
