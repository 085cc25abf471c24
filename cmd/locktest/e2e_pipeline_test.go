//go:build e2e

package locktest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A gate that go test answers from its cache tests nothing: another job of CI runs it again.
func TestAnotherJobIsNotAnsweredFromTheCache(t *testing.T) {
	passed := func(job string) (cached bool) {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-run=^TestCacheable$", ".")
		cmd.Env = append(os.Environ(), "GITHUB_RUN_ID="+job, "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Contains(string(out), "(cached)")
	}
	job := fmt.Sprint(time.Now().UnixNano())
	if passed(job) {
		t.Error("a job that was never run is answered from the cache")
	}
	if !passed(job) {
		t.Error("the same job is not answered from the cache, so that this shows nothing")
	}
	if passed(job + "0") {
		t.Error("another job is answered from the cache")
	}
}
