//go:build e2e

package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
	"lockcheck/reports/testkit/browserkit"
)

// The reports of real runs, in a real browser: opened from disk with no request and no word on the console (the kit fails
// the test otherwise), and used as the engineer at two in the morning uses them.
func TestReportsOfRealRunsInABrowser(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		code    int
		says    []string // on the page
		shownBy string
	}{
		"etcd pause": {args: []string{"--backend=etcd", "--nemesis=pause", "--workload=lock"}, code: 1, says: []string{"UNSAFE under pause: ", "stale-write-1"}},
		"etcd fencing": {args: []string{"--backend=etcd", "--nemesis=pause:holder,kill:leader", "--workload=fencing", meetsPause},
			says: []string{"PASS: etcd under pause:holder", "mutual-exclusion-1", "masked"}},
		"redis pause": {args: []string{"--backend=redis", "--nemesis=pause", "--workload=lock"}, code: 1, says: []string{"UNSAFE under pause: ", "stale-write-1"},
			shownBy: "TestReportsOfRealRunsInABrowser/etcd pause"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leftTo(t, c.shownBy)
			args := append([]string{"run", "--time-limit=12s", "--seed=7"}, c.args...)
			if c.code == 1 {
				args = endingAt(harmed, args...)
			}
			o := lockcheck(t, program, args...)
			if o.code != c.code {
				t.Errorf("exit %d, want %d", o.code, c.code)
			}
			path := filepath.Join(o.run(), rundir.ReportFile)
			file := strings.ReplaceAll(name, " ", "-")
			b := browserkit.Start(t)

			p := b.Open(t, path, browserkit.View{})
			p.Until(`document.documentElement.dataset.timeline === "drawn"`)
			text := browserkit.Eval[string](p, `document.body.innerText`)
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q", want)
				}
			}
			findings, incidents := 0, map[string]bool{}
			for _, property := range o.results.Properties {
				findings += len(property.Findings)
				for _, finding := range property.Findings {
					incidents[finding.Incident] = true
				}
			}
			of := func(n int, one, many string) string {
				return fmt.Sprintf("%d of %s", n, history.Counted(int64(n), one, many))
			}
			if want := "· " + of(len(incidents), "incident", "incidents") + ", " + of(findings, "finding", "findings"); !strings.Contains(p.Text("#range"), want) {
				t.Errorf("the timeline shows %q, want %q", p.Text("#range"), want)
			}
			p.ShotWhole("run-" + file + "-light")
			p.ShotOf("run-"+file+"-timeline", "#live")

			browserkit.Eval[bool](p, `(document.getElementById("canvas").focus(), true)`)
			p.Press("n")
			p.ShotOf("run-"+file+"-zoomed", "#live")
			p.Press(browserkit.Enter)
			story := browserkit.Eval[string](p, `location.hash.slice(1)`)
			if !browserkit.Eval[bool](p, fmt.Sprintf(`document.getElementById(%q).open`, story)) {
				t.Errorf("the story %q is closed", story)
			}
			linked := b.Open(t, path, browserkit.View{Dark: true, Hash: "#" + story})
			linked.Until(`document.documentElement.dataset.timeline === "drawn"`)
			if !browserkit.Eval[bool](linked, fmt.Sprintf(`document.getElementById(%q).open`, story)) {
				t.Errorf("a link to the story %q does not open it", story)
			}
			linked.Shot("run-" + file + "-story-dark")
			narrow := b.Open(t, path, browserkit.View{Width: 390, Height: 800})
			narrow.Until(`document.documentElement.dataset.timeline === "drawn"`)
			if wide := browserkit.Eval[float64](narrow, `document.documentElement.scrollWidth`); wide > 390 {
				t.Errorf("the page is %v wide in a window of 390", wide)
			}
			narrow.ShotWhole("run-" + file + "-narrow")
		})
	}
}
