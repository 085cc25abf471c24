package tidy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What lockcheck itself leaves in the directory of a run keeps none from being removed: witnesses that were judged by themselves, and
// another reading.
func TestAllThatARunLeavesIsKnown(t *testing.T) {
	out := t.TempDir()
	name := ended(t, out, plan("etcd"), longAgo)
	for _, file := range []string{
		"resource.jsonl", "report.html", "nodes/c1/c1.log", "failed-as-info/results.json", "failed-as-info/porcupine-k1.html", "failed-as-info/witnesses/stale-write-1/plan.json",
		"witnesses/stale-write-1/history.jsonl", "witnesses/stale-write-1/report.html", "witnesses/stale-write-1/failed-as-info/report.html",
	} {
		path := filepath.Join(out, name, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	aged(t, filepath.Join(out, name), longAgo)
	if entries, left := old(t, out); len(entries) != 1 || left != nil {
		t.Errorf("old are %q, left %v", names(entries), left)
	}
}

// A link is one, also with a slash behind its name.
func TestALinkWithASlashIsALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Old(link+"/", time.Now()); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("%v", err)
	}
}
