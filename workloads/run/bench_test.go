package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/workloads/driver"
)

const benchClients = 5

// benched is a run without a cluster: workers drive clients, which are processes of the test's program, as in any run,
// with everything that listens to a recording.
type benched struct {
	run     *Run
	workers []*worker
}

// startHarness starts the clients in the role that the variable names. They end with the benchmark, and what was recorded
// has to be whole.
func startHarness(b *testing.B, clients int, role string) *benched {
	b.Helper()
	recorder, err := NewRecorder(filepath.Join(b.TempDir(), "history.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	run := New(Setup{}, nil, Output{})
	run.recorder = recorder
	run.timeouts = newTimeouts(history.Plan{EffectiveMS: 1000, Clients: clients}, nil)
	recorder.Watch(run.monitor.watch)
	recorder.Watch(run.timeouts.watch)
	h := &benched{run: run}
	for i := range clients {
		name := "c" + strconv.Itoa(i+1)
		h.workers = append(h.workers, newWorker(run, i+1, &member{name: name, driver: startClient(b, name, recorder, role)}))
	}
	b.Cleanup(func() {
		for _, w := range h.workers {
			w.client.driver.Close()
			<-w.client.driver.Gone()
		}
		if err := recorder.Close(); err != nil {
			b.Error(err)
		}
	})
	return h
}

// each has every worker do something, and returns when all have done it.
func (h *benched) each(do func(i int, w *worker)) {
	var wait sync.WaitGroup
	for i, w := range h.workers {
		wait.Go(func() { do(i, w) })
	}
	wait.Wait()
}

// ping pings at the steady pace of a run until stop is called, or the benchmark ends.
func (h *benched) ping(b *testing.B) (stop func()) {
	ctx, stop := context.WithCancel(b.Context())
	for _, w := range h.workers {
		go pingSteadily(ctx, w.client.driver)
	}
	return stop
}

func startClient(b *testing.B, name string, recorder *Recorder, role string) *driver.Driver {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=1")
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
		stdout.Close()
	})
	return driver.New(name, stdin, stdout, recorder, nil)
}
