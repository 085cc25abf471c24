//go:build campaign

package campaign

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// doingNothing is a comparison of this many cells, an even number, of which each run ends at once: its servers are a program that fails.
func doingNothing(cells int) []string {
	ttls := make([]string, cells/2)
	for i := range ttls {
		ttls[i] = fmt.Sprintf("%dms", 2000+10*i)
	}
	return []string{"--backends=redis", "--nemeses=none,pause", "--workloads=lock", "--ttls=" + strings.Join(ttls, ","), "--server-bin=/bin/false", "--seed=1"}
}

var requestsMade = regexp.MustCompile(`after ([\d,]+) requests? to the API server`)

// Many shards that do nothing are scheduled, fetched and merged: what the submitting program asks of the API server grows with the shards,
// and its memory hardly at all.
func TestManyShardsThatDoNothing(t *testing.T) {
	api, s := admin(t), asked()
	var memory [2]int64 // kB at most
	sizes := [2]int{10, s.many}
	for i, cells := range sizes {
		n := namespace(t, api, "many", nil)
		out := t.TempDir()
		began := time.Now()
		cmd, said := lockcheck(t, adminConfig, out, append(doingNothing(cells), onCluster(n, "--parallel=25", "--cpu=50m", "--memory=128Mi")...)...)
		_ = cmd.Wait()
		// A process has at least the memory of the one that started it in this figure: growth below that is not seen.
		memory[i] = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		made := requestsMade.FindStringSubmatch(said.String())
		if code := cmd.ProcessState.ExitCode(); code != 69 || made == nil {
			t.Fatalf("exit %d, want 69, as no cell could be run, and how many requests were made", code)
		}
		requests, _ := strconv.Atoi(strings.ReplaceAll(made[1], ",", ""))
		all := runs(t, out)
		got := 0
		for name, runs := range all {
			got += len(runs)
			for _, r := range runs {
				if !strings.Contains(r.Error, "ended: exit status 1") {
					t.Errorf("%s: %q", name, r.Error)
				}
			}
		}
		took := time.Since(began)
		// Two a shard, two a round of two seconds, and a few to begin, to end, and where a pod was asked once more.
		if most := 2*cells + 2*int(took/(2*time.Second)) + cells/10 + 20; requests > most {
			t.Errorf("%d requests for %d shards in %v; want at most %d", requests, cells, took, most)
		}
		t.Logf("%d shards: %d requests in %v, %d kB of memory at most", cells, requests, took, memory[i])
		if got != cells {
			t.Errorf("%d runs, want one of each of %d cells", got, cells)
		}
		nothingLeft(t, api, n)
	}
	// The merged table may have a story of 24 kB for each run; the rest is what one run of a garbage collector differs in from another.
	if grown, most := memory[1]-memory[0], int64(8<<10+32*(sizes[1]-sizes[0])); grown > most {
		t.Errorf("for %d shards more it took %d kB more, at most %d expected", sizes[1]-sizes[0], grown, most)
	}
}
