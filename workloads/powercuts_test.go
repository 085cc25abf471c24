package workloads

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// endedProcess is one that has ended.
type endedProcess struct {
	clusters.Process
	why error
}

func (p *endedProcess) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
func (p *endedProcess) Err() error { return p.why }

type poweredNode struct{ clusters.Node }

func (poweredNode) Name() string { return "n1" }

// A server that ends by itself after a power cut is told once, and no failure; one that a fault or the end of the run ended, or that was not
// started after a power cut, is nothing of the kind.
func TestAServerThatCannotWorkWithWhatIsLeft(t *testing.T) {
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	for name, c := range map[string]struct {
		why         error
		down, other bool
		fell        bool
	}{
		"by itself":          {errors.New("exit status 1"), false, false, true},
		"with exit code 0":   {nil, false, false, true},
		"killed":             {killed, false, false, false},
		"stopped by a fault": {nil, true, false, false},
		"the one after that": {errors.New("exit status 1"), false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.jsonl")
			recorder, err := NewRecorder(path)
			if err != nil {
				t.Fatal(err)
			}
			r := New(Config{Log: &strings.Builder{}})
			r.recorder = recorder
			r.faultEnv = &faultEnv{run: r, disks: newFaultyDisks(), power: newPowerCuts(r)}
			r.faultEnv.disks.killed("n1", c.down)
			process := &endedProcess{why: c.why}
			r.faultEnv.power.back["n1"] = process
			asked := process
			if c.other {
				asked = &endedProcess{why: c.why}
			}
			for range 2 {
				if fell := r.faultEnv.power.fell(poweredNode{}, asked); fell != c.fell {
					t.Errorf("fell: %t", fell)
				}
			}
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if n := strings.Count(string(text), string(history.ServerEnded)); err != nil || n != map[bool]int{true: 1}[c.fell] {
				t.Errorf("told %d times, %v: %s", n, err, text)
			}
		})
	}
}
