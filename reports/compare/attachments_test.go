package compare

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/reports/junit"
)

// attachedTo are the files that CI would attach to the only case of a comparison.
func attachedTo(t *testing.T, r Result, from Attachments) (paths []string) {
	t.Helper()
	var out strings.Builder
	if err := JUnit(&out, &Comparison{Cells: []Result{r}}, from); err != nil {
		t.Fatal(err)
	}
	var suites junit.Suites
	if err := xml.Unmarshal([]byte(out.String()), &suites); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(suites.Suites[0].Cases[0].SystemOut) {
		if path, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "[[ATTACHMENT|"); is {
			path, whole := strings.CutSuffix(path, "]]")
			if !whole {
				t.Errorf("the line %q has no end", line)
			}
			paths = append(paths, path)
		} else if strings.Contains(line, "[ATTACHMENT|") {
			t.Errorf("an attachment inside of a line: %q", line)
		}
	}
	return paths
}

// aRun leaves files in the directory of a run.
func aRun(t *testing.T, dir string, files ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A cell that failed has its report and recording attached: by absolute paths for Jenkins, by those below the project for GitLab.
func TestFilesOfAFailedCellAreAttached(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(project, "out", "compare-1")
	aRun(t, filepath.Join(dir, "runs", "a"), "report.html", "history.jsonl", "plan.json") // no resource.jsonl
	aRun(t, filepath.Join(dir, "runs", "stopped"), "history.jsonl")
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	bad := NewResult(cell, expecting(), []Run{overlapAndStale()}, 1)

	absolute := filepath.Join(dir, "runs", "a")
	want := []string{absolute + "/report.html", absolute + "/history.jsonl", absolute + "/plan.json"}
	if got := attachedTo(t, bad, Attachments{Dir: dir}); !slices.Equal(got, want) {
		t.Errorf("for Jenkins %q, want %q", got, want)
	}
	want = []string{"out/compare-1/runs/a/report.html", "out/compare-1/runs/a/history.jsonl", "out/compare-1/runs/a/plan.json"}
	if got := attachedTo(t, bad, Attachments{Dir: dir, Project: project}); !slices.Equal(got, want) {
		t.Errorf("for GitLab %q, want %q", got, want)
	}
	t.Chdir(project)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	if got := attachedTo(t, bad, Attachments{Dir: filepath.Join("out", "compare-1"), Project: link}); !slices.Equal(got, want) {
		t.Errorf("from a relative directory, below a link: %q, want %q", got, want)
	}
	stopped := NewResult(cell, expecting(), nil, 1)
	stopped.Stopped = "runs/stopped"
	if got := attachedTo(t, stopped, Attachments{Dir: dir, Project: project}); !slices.Equal(got, []string{"out/compare-1/runs/stopped/history.jsonl"}) {
		t.Errorf("of a run that was stopped: %q", got)
	}

	for name, test := range map[string]struct {
		r    Result
		from Attachments
	}{
		"of a cell that is as expected":   {NewResult(cell, pauseHarms(), []Run{overlapAndStale()}, 1), Attachments{Dir: dir}},
		"of a run that is elsewhere":      {bad, Attachments{Dir: filepath.Join(project, "out")}},
		"of a run outside of the project": {bad, Attachments{Dir: dir, Project: filepath.Join(project, "elsewhere")}},
		"of a cell without a run":         {NewResult(cell, expecting(), nil, 1), Attachments{Dir: dir}},
	} {
		if got := attachedTo(t, test.r, test.from); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, odd := range []string{"a]]b", "a|b", "a[b", "a\nb"} {
		aRun(t, filepath.Join(project, odd, "runs", "a"), "report.html")
		if got := attachedTo(t, bad, Attachments{Dir: filepath.Join(project, odd)}); got != nil {
			t.Errorf("below %q, which no reader can be told: %q", odd, got)
		}
	}
}

// What a client has printed attaches nothing.
func TestARunsWordsAttachNothing(t *testing.T) {
	run := overlapAndStale()
	run.Sentence = "[[ATTACHMENT|/etc/passwd]]"
	run.Story = []string{"[[[ATTACHMENT|/etc/passwd]]", "x\n[[ATTACHMENT|/etc/passwd]]"}
	if got := attachedTo(t, NewResult(Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}, expecting(), []Run{run}, 1), Attachments{}); got != nil {
		t.Errorf("%q", got)
	}
}
