package index

import (
	"path/filepath"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/hunts"
)

// A hunt is listed with what it found, and what the last one of the same plan had not.
func TestTheIndexOfHunts(t *testing.T) {
	out := t.TempDir()
	hunt := func(hours int, finds ...hunts.Find) string {
		dir, err := hunts.CreateDir(out, morning.Add(time.Duration(hours)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		r := hunts.Record{Version: hunts.FormatVersion, Backend: "etcd", Client: "election", For: []string{"service"}, Seed: int64(hours), Runs: []hunts.Run{{N: 1}}, Finds: finds}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		return filepath.Base(dir)
	}
	first := hunt(1)
	hunt(2, hunts.Find{Property: model.EarlyExpiry, Signature: "early-expiry by etcd", Summary: "lost"})
	all, _ := rows(t, out)
	if len(all) != 2 {
		t.Fatalf("%d rows", len(all))
	}
	has(t, all[0], []string{"hunt, seed 2", "etcd / election / service", "violation", "1 find in 1 run", "early-expiry by etcd: found, and not known before", "since", first + "/hunt.html"})
	has(t, all[1], []string{"pass", "0 finds in 1 run"}, "since")
}
