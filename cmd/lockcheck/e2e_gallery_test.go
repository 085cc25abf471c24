//go:build e2e

package main_test

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/gallery"
)

// galleryOf is what a finished gallery wrote.
func galleryOf(t *testing.T, o outcome) (r gallery.Record) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.out, gallery.LatestLink, gallery.JSONFile))
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// scenarioFile is a scenario of lockcheck's own, changed: pairs of texts of which the second replaces the first.
func scenarioFile(t *testing.T, name string, changes ...string) string {
	t.Helper()
	text := scenarios.Text(name)
	for change := range slices.Chunk(changes, 2) {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("%s has no %q", name, change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--file=" + path
}

// A scenario comes out as what it is: also one that nothing can reproduce, which a gallery that says yes to everything would not notice.
func TestTheGalleryTellsWhatIsReproducedFromWhatIsNot(t *testing.T) {
	t.Parallel()
	const nemesis, limit = "nemesis: pause:holder@work,2ttl", "time-limit: 60s"
	for name, row := range map[string]struct {
		args    []string
		code    int
		outcome gallery.Outcome
		says    string
	}{
		"a contrast": {[]string{"pause-holder", "--contrast"}, 0, gallery.Reproduced, "pause-holder, contrast: reproduced\n"},
		"a planted one that nothing can reproduce": {
			[]string{scenarioFile(t, "pause-holder", nemesis, "nemesis: none", limit, "time-limit: 5s")}, 1, gallery.NotReproduced,
			"failure: not reproduced: mutual-exclusion is pass, expected violation"},
		"a planted cause": {
			[]string{scenarioFile(t, "pause-holder", "cause: pause of holder", "cause: kill of holder")}, 1, gallery.NotReproduced,
			"mutual-exclusion is put down to pause of holder, expected kill of holder"},
		"a contrast that fails": {
			[]string{scenarioFile(t, "pause-holder", "  workload: fencing", "  resource: plain"), "--contrast"}, 1, gallery.NotReproduced,
			"contrast: not reproduced: mutual-exclusion is violation, expected masked"},
		"a fault that never comes": { // a lock that is never lost never meets what is to happen then
			[]string{scenarioFile(t, "pause-holder", nemesis, "nemesis: pause:holder@lost", limit, "time-limit: 4s")}, 2,
			gallery.Inconclusive, "failure: inconclusive: "},
		"servers that are not there": {
			[]string{scenarioFile(t, "pause-holder", "until:", "provider: local\nserver-bin: /no/such/etcd\nuntil:")}, 69, gallery.Unavailable,
			"/no/such/etcd"},
		"servers of another version": {
			[]string{scenarioFile(t, "pause-holder", nemesis, "nemesis: none\nserver-version: \"2.1\"", limit, "time-limit: 3s")}, 69, gallery.Unavailable,
			"--server-version=2.1: there is no such server of etcd here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lockcheck(t, program, append([]string{"gallery", "--seed=1"}, row.args...)...)
			if o.code != row.code || !strings.Contains(o.stdout, row.says) {
				t.Errorf("exit %d, want %d and %q", o.code, row.code, row.says)
			}
			r := galleryOf(t, o)
			if len(r.Items) != 1 || r.Items[0].Outcome != row.outcome || r.ExitCode != row.code || r.Interrupted {
				t.Errorf("gallery.json has %+v", r)
			}
		})
	}
}

// Several scenarios with --all are what --all is of every one: both halves of each, side by side, a table, a page with their reports, and
// one exit code.
func TestBothHalvesOfSeveralScenarios(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "gallery", "--all", "--jobs=2", "--seed=1", "etcd-leaseid-token", "pause-holder")
	r := galleryOf(t, o)
	if o.code != 0 || r.Interrupted || r.ExitCode != 0 {
		t.Errorf("exit %d, gallery.json has %+v", o.code, r)
	}
	page, err := os.ReadFile(filepath.Join(o.out, gallery.LatestLink, gallery.HTMLFile))
	if err != nil {
		t.Error(err)
	}
	var halves []string
	for _, item := range r.Items {
		halves = append(halves, fmt.Sprintf("%s %s %s", item.Name, item.Half, item.Outcome))
		if item.Run == nil || item.Run.Report == "" || !strings.Contains(html.UnescapeString(string(page)), item.Run.Report) {
			t.Errorf("the page has no report of %s, %s", item.Name, item.Half)
		}
	}
	want := []string{"etcd-leaseid-token failure reproduced", "etcd-leaseid-token contrast reproduced", "pause-holder failure reproduced", "pause-holder contrast reproduced"}
	if !slices.Equal(halves, want) {
		t.Errorf("it has %v", halves)
	}
	row := regexp.MustCompile(`(?m)^ *(etcd-leaseid-token|pause-holder) +reproduced +reproduced +[\d.]+ s *$`)
	if !strings.HasSuffix(o.stdout, "\n4 of 4 runs reproduced\n") || len(row.FindAllString(o.stdout, -1)) != 2 {
		t.Errorf("the table is\n%s", o.stdout)
	}
}

// A gallery that was ended is gone on with, however it ended: what was run counts, the rest is run, and nothing is run twice.
func TestAGalleryThatWasEndedGoesOn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		signal syscall.Signal
		code   int // -1: killed
	}{"Ctrl-C": {syscall.SIGINT, 130}, "killed": {syscall.SIGKILL, -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := outcome{out: t.TempDir()}
			cmd := command(program, "gallery", "--seed=1", scenarioFile(t, "pause-holder", "nemesis: pause:holder@work,2ttl", "nemesis: none",
				"time-limit: 60s", "time-limit: 6s"), "--out="+o.out)
			endAtWork(t, cmd, filepath.Join(o.out, "gallery-*", "runs", "cell-1", "*", "history.jsonl"), row.signal)
			if r := galleryOf(t, o); cmd.ProcessState.ExitCode() != row.code || !r.Interrupted || r.Items[0].Outcome != gallery.NotRun {
				t.Fatalf("exit %d, %+v", cmd.ProcessState.ExitCode(), r)
			}
			resume := []string{"gallery", "--resume=" + filepath.Join(o.out, gallery.LatestLink)}
			resumed := finish(t, command(program, resume...), o)
			first := galleryOf(t, resumed)
			if resumed.code != 1 || first.Interrupted || first.Seed != 1 || first.Items[0].Outcome != gallery.NotReproduced {
				t.Fatalf("resumed: exit %d, %+v\n%s", resumed.code, first, resumed.stderr)
			}
			again := finish(t, command(program, resume...), o)
			if second := galleryOf(t, again); again.code != 1 || second.Items[0].Run.Dir != first.Items[0].Run.Dir || strings.Contains(again.stderr, "1 of 1") {
				t.Errorf("resumed once more it ran again: exit %d\n%s", again.code, again.stderr)
			}
		})
	}
}

// endAtWork starts a command and sends it a signal once a file is there that matches a pattern.
func endAtWork(t *testing.T, cmd *exec.Cmd, pattern string, signal syscall.Signal) {
	t.Helper()
	defer placeFor(cmd)()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if there, _ := filepath.Glob(pattern); len(there) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("no %s in a minute", pattern)
			break
		}
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // its exit code is looked at by the caller
}
