package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/compare/config"
)

// --list says what would be run, in its order, with seeds, flags and expectations; nothing is started, and nothing left.
func TestCompareList(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(config.Name, []byte(config.Example), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"compare", "--list", "--seed=7", "--repeat=3", "--file=" + config.Name, "--provider=local"}
	got := lockcheck(t, args...)
	if got.code != exitPass {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	for _, want := range []string{"1  etcd / none / lock, seeds 7 to 9\n", "   lockcheck run --backend=etcd --nemesis=none --workload=lock", "   expected: ", "(lockcheck.yaml:"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("it lacks %q:\n%s", want, got.stdout)
		}
	}
	var cells []plannedCell
	if got := lockcheck(t, append(args, "--json")...); json.Unmarshal([]byte(got.stdout), &cells) != nil || len(cells) < 2 {
		t.Fatalf("%d cells in:\n%s", len(cells), got.stdout)
	}
	if c := cells[0]; c.Backend != "etcd" || len(c.Seeds) != 3 || c.Seeds[2] != 9 || c.Expectation == nil || len(c.Flags) < 3 {
		t.Errorf("the first cell is %+v", c)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("it left %v", left)
	}
}

// What would stop a later cell is found before the first one runs: a server that is missing, an engine that does not answer.
func TestWhatIsMissingIsFoundBeforeTheFirstCell(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent")
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no such server": {[]string{"--backends=redis", "--provider=local", "--server-bin=/nonexistent/redis-server"}, "redis"},
		"no engine":      {[]string{"--backends=etcd", "--provider=docker"}, "unix:///nonexistent"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			got := lockcheck(t, append([]string{"compare", "--out=" + out, "--nemeses=none", "--workloads=lock"}, test.args...)...)
			if got.code != exitUnavailable && got.code != exitUsage || !strings.Contains(got.stderr, test.says) {
				t.Errorf("exit %d: %s", got.code, got.stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a comparison was begun")
			}
		})
	}
}
