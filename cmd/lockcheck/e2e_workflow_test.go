//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
)

// workflow is what the test needs to know of a workflow of GitHub's.
type workflow struct {
	Jobs map[string]struct {
		Needs    string
		If       string
		Strategy struct{ Matrix struct{ Shard []int } }
		Steps    []struct {
			Uses, Run, If string
			With          map[string]string
		}
	}
}

// pagesWorkflow is the one with several jobs in reports/CI.md.
func pagesWorkflow(t *testing.T) workflow {
	t.Helper()
	text, err := os.ReadFile("../../reports/CI.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(on: .*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("reports/CI.md has no workflow")
	}
	var w workflow
	if err := yaml.Unmarshal(block[1], &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// A team's pipeline: the file that lockcheck init writes comes as expected in the workflow of reports/CI.md. Every job has its shard, what they
// leave is gathered, and one job joins it. With one expectation changed it does not come as expected, and its line is named.
func TestThePagesWorkflow(t *testing.T) {
	t.Parallel()
	w := pagesWorkflow(t)
	jobs, verdict := w.Jobs["compare"], w.Jobs["verdict"]
	if verdict.Needs != "compare" || verdict.If != "always()" || len(jobs.Strategy.Matrix.Shard) < 2 {
		t.Fatalf("%+v", w)
	}
	dir := t.TempDir()
	work := strings.Replace(strings.TrimPrefix(meetsPause, "--"), "=", ": ", 1)
	path, summary := filepath.Join(dir, config.Name), filepath.Join(dir, "summary.md")
	if out, err := exec.Command(program, "init", path).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := strings.NewReplacer("time-limit: 30s", "time-limit: 16s\n  "+work, "repeat: 2", "repeat: 1").Replace(string(text))
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	step := func(command string) (string, int) {
		cmd := exec.Command("bash", "-e", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+dir, "GITHUB_STEP_SUMMARY="+summary)
		over := placeFor(cmd)
		out, err := cmd.CombinedOutput()
		over()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		t.Logf("%s\n%s", command, out)
		return string(out), cmd.ProcessState.ExitCode()
	}
	t.Cleanup(func() {
		if to := os.Getenv("LOCKCHECK_KEEP"); t.Failed() && to != "" {
			if err := os.CopyFS(filepath.Join(to, t.Name()), os.DirFS(dir)); err != nil {
				t.Log(err)
			}
		}
	})
	for _, shard := range jobs.Strategy.Matrix.Shard {
		here := func(text string) string { return strings.ReplaceAll(text, "${{ matrix.shard }}", fmt.Sprint(shard)) }
		for _, s := range jobs.Steps {
			switch {
			case strings.HasPrefix(s.Run, "lockcheck "):
				if out, code := step(here(s.Run)); code != 0 {
					t.Fatalf("exit %d\n%s", code, out)
				}
			case strings.HasPrefix(s.Uses, "actions/upload-artifact@"):
				to := filepath.Join(dir, "parts", here(s.With["name"]))
				if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, here(s.With["path"])))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, s := range verdict.Steps {
		if strings.HasPrefix(s.Run, "lockcheck ") {
			if out, code := step(s.Run); code != 0 {
				t.Fatalf("exit %d\n%s", code, out)
			}
		}
	}
	whole, err := compare.ReadDir(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range whole.Cells {
		if cell.Outcome != compare.Met || cell.Made == 0 {
			t.Errorf("%v is %s after %d runs", cell.Cell, cell.Outcome, cell.Made)
		}
		for _, run := range cell.Runs {
			if _, err := os.Stat(filepath.Join(dir, "whole", run.Report)); err != nil {
				t.Errorf("a link leads nowhere: %v", err)
			}
		}
	}
	if len(whole.Cells) != 4 {
		t.Errorf("%d cells, want 4", len(whole.Cells))
	}
	linksHold(t, filepath.Join(dir, "whole"), 4)
	if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "| etcd | pause | lock |") {
		t.Errorf("the summary: %v\n%s", err, text)
	}
	if out, code := step("lockcheck merge parts/*-1/compare-*"); code != 2 {
		t.Errorf("merge of a part of the matrix: exit %d, want 2\n%s", code, out)
	}
	if out, code := step("lockcheck merge parts/*-1/compare-* parts/*-1/compare-*"); code != 64 {
		t.Errorf("merging one shard twice: exit %d, want 64\n%s", code, out)
	}
	missesWhatIsExpected(t, path, file)
}

// missesWhatIsExpected makes a comparison by a file in which one expectation more does not hold. A summary that cannot be written is
// said, and takes nothing from an expectation that was not met.
func missesWhatIsExpected(t *testing.T, path, file string) {
	t.Helper()
	const masked = "expect: {mutual-exclusion: masked"
	before, after, found := strings.Cut(file, masked)
	if !found {
		t.Fatalf("%s has no line with %q", path, masked)
	}
	if err := os.WriteFile(path, []byte(before+masked+", stale-write: violation"+after), 0o644); err != nil {
		t.Fatal(err)
	}
	o := lockcheck(t, program, "compare", "--file="+path, "--provider=local", "--seed=1", "--nemeses=pause", "--workloads=fencing", "--repeat=1",
		"--summary=/dev/full", "--annotations")
	if o.code != 3 {
		t.Errorf("exit %d, want 3\n%s%s", o.code, o.stdout, o.stderr)
	}
	line := 1 + strings.Count(before, "\n")
	for _, want := range []string{
		fmt.Sprintf("stale-write: expected violation did not come in 1 run that could tell; it was pass (%s:%d)", path, line),
		fmt.Sprintf("::error file=%s,line=%d,", path, line),
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, o.stdout)
		}
	}
	if !strings.Contains(o.stderr, "cannot append the summary") {
		t.Errorf("the summary was not written, and nothing says so:\n%s", o.stderr)
	}
}

// The nightly hunt of reports/hunts/README.md: its flags and the file of known finds beside it are understood, and its files are where it says.
func TestThePagesNightlyHunt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../reports/hunts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := regexp.MustCompile("(?s)```yaml\n# finds.yaml\n(.*?)```").FindSubmatch(text)
	block := regexp.MustCompile("(?s)```yaml\n# .github/workflows/hunt.yml\n(.*?)```").FindSubmatch(text)
	if known == nil || block == nil {
		t.Fatal("reports/hunts/README.md has no nightly hunt")
	}
	var w workflow
	if err := yaml.Unmarshal(block[1], &w); err != nil {
		t.Fatal(err)
	}
	dir, hunted := t.TempDir(), false
	if err := os.WriteFile(filepath.Join(dir, "finds.yaml"), known[1], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, step := range w.Jobs["hunt"].Steps {
		if !strings.HasPrefix(step.Run, "lockcheck hunt ") {
			continue
		}
		hunted = true
		run := strings.Replace(step.Run, "--budget=90m", "--budget=1m --time-limit=3s --jobs=1", 1)
		cmd := exec.Command("bash", "-e", "-c", run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		over := placeFor(cmd)
		out, err := cmd.CombinedOutput()
		over()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 2 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if !hunted {
		t.Fatal("no step hunts")
	}
	fitsTheSchema(t, filepath.Join(dir, "hunt.xml"))
	if r, err := hunts.Read(filepath.Join(dir, "hunts", hunts.LatestLink)); err != nil || len(r.Runs) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
