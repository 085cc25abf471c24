//go:build campaign

package campaign

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// quotas are the files that bound how much of the processors a control group gets, and a tenth of one processor: of cgroup 1, and of cgroup 2.
var quotas = map[string]string{"cpu.cfs_quota_us": "10000", "cpu.max": "10000 100000"}

// throttle leaves the containers of a pod a tenth of a processor, and reports for how many control groups that was done. The node does the
// same by its quotas, which these tests do without: there are no more processors than two pods ask for.
func throttle(t *testing.T, uid string) (groups int) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a group that ended while it was looked at
		}
		tenth := quotas[d.Name()]
		if tenth == "" || filepath.Base(filepath.Dir(filepath.Dir(path))) != "pod"+uid {
			return nil
		}
		groups++
		return os.WriteFile(path, []byte(tenth), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// A pod that the quota of its control group keeps from the processors ends without giving its results. Its index is run again, in a pod that
// nothing keeps from them, and that one's results count.
func TestAThrottledShardIsMadeAgain(t *testing.T) {
	api := admin(t)
	n := namespace(t, api, "throttled", nil)
	out := t.TempDir()
	cmd, said := lockcheck(t, adminConfig, out, append(matrix("none"), onCluster(n, "--time-limit=20s")...)...)
	job := jobOf(t, said)
	var first podObject
	seen := func(phase string) bool { // of the first pod; a question that is not answered is asked again
		var list struct{ Items []podObject }
		if err := api.call(t.Context(), http.MethodGet, "/api/v1/namespaces/"+n+"/pods", nil, nil, &list); err != nil || len(list.Items) == 0 {
			return false
		}
		if first.Metadata.UID == "" {
			first = list.Items[0]
		}
		i := slices.IndexFunc(list.Items, func(p podObject) bool { return p.Metadata.UID == first.Metadata.UID })
		if i < 0 {
			t.Fatalf("the first pod is gone, and nobody saw how it ended\n%s", said)
		}
		if first = list.Items[i]; first.Status.Phase == "Succeeded" {
			t.Fatalf("the first pod gave its results\n%s", said)
		}
		return first.Status.Phase == phase
	}
	until(t, "a pod at work", func() bool { return seen("Running") })
	if throttle(t, first.Metadata.UID) == 0 {
		t.Fatal("the pod has no control group with a quota")
	}
	until(t, "the end of the first pod", func() bool { return seen("Failed") })
	why := first.Status.ContainerStatuses[0].State.Terminated.Message
	if !strings.Contains(why, "was throttled for") {
		t.Errorf("the first pod's last words:\n%s", why)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d, want 0\n%s", code, said)
	}
	all := runs(t, out)
	complete(t, all, 1, 1)
	for name, runs := range all {
		if verdict := runs[0].verdict(); verdict != "pass" {
			t.Errorf("%s is %s", name, verdict)
		}
	}
	t.Logf("of Job %s, %s: %s%s", job, first.Metadata.Name, why, said)
	nothingLeft(t, api, n)
}
