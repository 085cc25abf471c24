//go:build campaign

package campaign

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"lockcheck/reports/testkit"
)

// On a terminal Ctrl-C asks: first the campaign is waited for, then it is deleted.
func TestCtrlCAsksWhatIsToBecomeOfTheJob(t *testing.T) {
	t.Parallel()
	api := admin(t)
	n := namespace(t, api, "asked", nil)
	terminal, user := testkit.Pseudo(t, unix.Winsize{Col: 200, Row: 50})
	said := &written{}
	go func() { _, _ = io.Copy(said, user) }()
	args := append(matrix("none"), onCluster(n, "--time-limit=2m")...)
	cmd := exec.Command(program(t), append([]string{"compare", "--out=" + t.TempDir()}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+adminConfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if t.Failed() {
			t.Logf("%s", said)
		}
	})
	const following, question = " shards fetched, ", "[l]eave the Job running, [d]elete it, or [w]ait for it? [l] "
	asked := func(times int, answer string) {
		followed := strings.Count(said.String(), following)
		_ = cmd.Process.Signal(syscall.SIGINT)
		until(t, "the question", func() bool { return strings.Count(said.String(), question) == times })
		if _, err := io.WriteString(user, answer+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer == "w" {
			until(t, "it is followed again", func() bool { return strings.Count(said.String(), following) > followed })
		}
	}
	until(t, "it is followed", func() bool { return strings.Contains(said.String(), following) })
	asked(1, "w")
	asked(2, "d")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	until(t, "word of what was deleted", func() bool {
		return strings.Contains(said.String(), "the Job is deleted; what was fetched, 0 of 1 shard, is in ")
	})
	nothingLeft(t, api, n)
}
