//go:build campaign

package campaign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A gallery is run in pods, left by Ctrl-C and come back to: both halves of a scenario, and one whose lock client no pod has.
func TestAGalleryIsRunInPods(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "gallery", nil)
	out := t.TempDir()
	cmd, said := start(t, adminConfig, append([]string{"gallery", "--all", "pause-holder", "rueidis-blackhole", "--seed=1", "--out=" + out}, onCluster(n)...)...)
	job := jobOf(t, said)
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(said.String(), "lockcheck gallery --attach-job="+job) {
		t.Fatalf("left by Ctrl-C: exit %d\n%s", code, said)
	}
	if code, wrong := run(t, adminConfig, t.TempDir(), "--attach-job="+job, "--namespace="+n); code != 64 || !strings.Contains(wrong, `was made by lockcheck "gallery"`) {
		t.Errorf("come back to by compare: exit %d\n%s", code, wrong)
	}
	cmd, said = start(t, adminConfig, "gallery", "--attach-job="+job, "--namespace="+n, "--out="+out)
	_ = cmd.Wait()
	t.Log(said)
	if code := cmd.ProcessState.ExitCode(); code != 69 {
		t.Errorf("exit %d, want 69: a lock client is missing", code)
	}
	dirs, _ := filepath.Glob(filepath.Join(out, "gallery-*"))
	if len(dirs) != 1 {
		t.Fatalf("the directories are %v", dirs)
	}
	var made struct {
		Interrupted bool
		Items       []struct {
			Name, Half, Outcome, Reason string
			Run                         struct{ Report string }
		}
	}
	text, err := os.ReadFile(filepath.Join(dirs[0], "gallery.json"))
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil || made.Interrupted {
		t.Fatalf("%v\n%s", err, text)
	}
	var outcomes []string
	for _, item := range made.Items {
		outcomes = append(outcomes, item.Name+" "+item.Half+" "+item.Outcome)
		if item.Outcome != "reproduced" {
			if !strings.Contains(item.Reason, "rueidislock") {
				t.Errorf("%s, %s is %s: %s", item.Name, item.Half, item.Outcome, item.Reason)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join(dirs[0], item.Run.Report)); err != nil {
			t.Errorf("its report: %v", err)
		}
	}
	if want := []string{"pause-holder failure reproduced", "pause-holder contrast reproduced", "rueidis-blackhole failure unavailable"}; len(outcomes) != 4 || !slices.Equal(outcomes[:3], want) {
		t.Errorf("it has %q", outcomes)
	}
	nothingLeft(t, api, n)
}
