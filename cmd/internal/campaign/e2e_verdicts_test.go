//go:build campaign

package campaign

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestACampaignComesToTheVerdictsOfThisMachine(t *testing.T) {
	api, s := admin(t), asked()
	n := namespace(t, api, "verdicts", nil)
	podArgs, ownArgs := onCluster(n), []string{"--provider=local"}
	if !soaking() {
		s.nemeses = "pause" // that runs without faults pass in pods is what the other tests see
		podArgs, ownArgs = append(podArgs, meetsPause), append(ownArgs, "--jobs=2", meetsPause)
	}
	there, here := t.TempDir(), t.TempDir()
	var code, want int
	rest := costOf(t, func() { time.Sleep(s.rest) }) // the node's own programs run all the time, also while the same cells are run here
	campaign := costOf(t, func() { code, _ = run(t, adminConfig, there, s.matrix(podArgs...)...) })
	own := costOf(t, func() { want, _ = run(t, adminConfig, here, s.matrix(ownArgs...)...) })
	t.Logf("processor time of the whole machine: %v for the campaign, %v for the same cells run here; of the node at rest: %v", campaign, own, rest)
	if s.rest > 0 {
		t.Logf("without what the node at rest takes in as much time: %v and %v, %+.0f %%", rest.without(campaign), rest.without(own),
			100*(float64(rest.without(campaign))/float64(rest.without(own))-1))
		if bound := own.used + own.used/10; campaign.used > bound { // fewer runs are too few to share a pod's start
			t.Errorf("the campaign took %v of processor time, more than 10 %% above the %v of the same cells here", campaign.used, own.used)
		}
	}
	if code != want || want != 1 {
		t.Errorf("exit %d in the cluster, %d here; want 1", code, want)
	}
	got, local := runs(t, there), runs(t, here)
	complete(t, got, s.cells(), s.repeat)
	stalled := 0
	for name, own := range local {
		for i, r := range own {
			if i >= len(got[name]) {
				break // it is not complete
			}
			switch verdict := got[name][i].verdict(); verdict {
			case "stalled":
				stalled++
			case r.verdict():
			default:
				t.Errorf("%s, seed %d: %s in the cluster, %s here", name, r.Seed, verdict, r.verdict())
			}
			t.Logf("%s, seed %d: %s in the cluster, %s here", name, r.Seed, got[name][i].verdict(), r.verdict())
		}
	}
	if stalled*4 > s.cells()*s.repeat {
		t.Errorf("in %d runs the harness stood still: this machine is too busy to compare anything", stalled)
	}
	nothingLeft(t, api, n)
}

// processors is how long something took, and how much of this whole machine's processors.
type processors struct{ took, used time.Duration }

func (p processors) String() string {
	return fmt.Sprintf("%v in %v", p.used, p.took.Round(time.Millisecond))
}

// without is what something used beyond what p goes on using all the time.
func (p processors) without(other processors) time.Duration {
	return (other.used - time.Duration(float64(other.took)*p.used.Seconds()/p.took.Seconds())).Round(10 * time.Millisecond)
}

func costOf(t *testing.T, what func()) processors {
	t.Helper()
	began, before := time.Now(), processorTime(t)
	what()
	return processors{time.Since(began), processorTime(t) - before}
}

// processorTime is what this whole machine has used so far: user, nice, system and softirq.
func processorTime(t *testing.T) (used time.Duration) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if i != 3 && i != 4 && i < 7 { // idle, iowait
			used += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return used
}
