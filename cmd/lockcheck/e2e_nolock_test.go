//go:build e2e

package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A client that takes no lock at all never passes, with any use of the resource: requests that the resource refuses
// test nothing, and mask nothing.
func TestAClientThatTakesNoLockNeverPasses(t *testing.T) {
	t.Parallel()
	nolock := filepath.Join(t.TempDir(), "nolock")
	if out, err := exec.Command("go", "build", "-o", nolock, "./testdata/nolock").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		mode, workload, guard string
		want                  model.Verdict
		resource              history.Resource
	}{
		{"refused", "lock", "none", model.Violation, history.ResourceCAS},
		{"handled", "lock", "before-work", model.Inconclusive, history.ResourceCAS},
		{"refused", "lock", "none", model.Violation, ""},
		{"refused", "fencing", "before-work", model.Violation, ""},
		{"silent", "lock", "before-write", model.Inconclusive, ""},
		{"silent", "fencing", "none", model.Inconclusive, ""},
		{"handled", "lock", "before-work", model.Violation, ""},
		{"handled", "fencing", "before-work", model.Inconclusive, ""},
		{"handled", "fencing", "before-write", model.Inconclusive, ""},
		{"handled", "fencing", "none", model.Inconclusive, ""},
	} {
		t.Run(strings.TrimSuffix(test.mode+"/"+test.workload+"/"+test.guard+"/"+string(test.resource), "/"), func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=3s",
				"--client=" + nolock + " " + test.mode, "--workload=" + test.workload, "--guard=" + test.guard}
			if test.resource != "" {
				args = append(args, "--resource="+string(test.resource))
			}
			o := lockcheck(t, program, args...)
			if o.code == 0 || o.results.Verdict != test.want {
				t.Errorf("exit %d, %s (%s); want %s", o.code, o.results.Verdict, o.results.Reason, test.want)
			}
		})
	}
}
