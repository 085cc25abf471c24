//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

// The table in which a team sees what it needs: of a holder that is paused past its lease, the plain resource takes the late write,
// and fencing and compare-and-set reject it.
func TestCompareResources(t *testing.T) {
	t.Parallel()
	o := lockcheck(t, program, "compare", "--backends=etcd", oneServer, "--nemeses=pause:holder@work,2ttl", "--resources=plain,fenced,cas", "--keys=1",
		"--provider=local", meetsPause, "--time-limit=12s", "--seed=1", "--jobs=3")
	if o.code != 1 {
		t.Fatalf("exit %d, want 1\n%s%s", o.code, o.stdout, o.stderr)
	}
	c, dir := compared(t, o)
	want := map[string]model.Verdict{"plain": model.Violation, "fenced": model.Pass, "cas": model.Pass}
	if len(c.Cells) != len(want) {
		t.Fatalf("%d cells", len(c.Cells))
	}
	for _, cell := range c.Cells {
		keeps := cell.Resource != "plain"
		if cell.Workload != "fencing" || cell.Verdict != want[cell.Resource] || keeps != (cell.MaskedIncidents > 0) || keeps != (cell.Runs[0].Rejected > 0) {
			t.Errorf("%v: verdict %s, %d incidents masked, %d writes rejected", cell.Cell, cell.Verdict, cell.MaskedIncidents, cell.Runs[0].Rejected)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, compare.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the terminal": o.stdout, "the page": string(page)} {
		if !strings.Contains(text, "stale writes") || !strings.Contains(text, "writes rejected") || !strings.Contains(text, "n/a") {
			t.Errorf("%s does not set them side by side:\n%s", what, text)
		}
	}
}
