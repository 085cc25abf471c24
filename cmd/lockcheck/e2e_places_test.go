//go:build e2e

package main_test

import (
	"context"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/semaphore"
)

// Tests wait most of their time for runs, and runs for their faults: several go on at once, and each takes of the processors what it uses. A
// quarter of them is left for the starts of servers, which come at once. Where it is not, faults come too late for what they were to meet.
var (
	processors = semaphore.NewWeighted(int64(runtime.NumCPU()) * 75)
	// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen
	// to answer nothing for a minute, on two cores.
	inDocker = semaphore.NewWeighted(2)
)

// percents are what a run of a backend takes of one processor: the mean as LOCKCHECK_COSTS shows it.
var percents = map[string]int64{"consul": 25, "etcd": 27, "kubernetes": 55, "postgres": 30, "redis": 17, "redlock": 20, "zookeeper": 50}

const percentOfSeveral = 55 // of a command that names no backend, such as a comparison with two runs side by side

// shareOf is what a command takes: what its backend does, if it names one.
func shareOf(cmd *exec.Cmd) int64 {
	for _, arg := range slices.Backward(cmd.Args) { // the last one counts
		if backend, named := strings.CutPrefix(arg, "--backend="); named && percents[backend] > 0 {
			return percents[backend]
		}
	}
	return percentOfSeveral
}

// placeFor waits until few enough runs go on where a command has its own; it is over when what it returns is called. A test that has
// a place starts nothing that waits for another.
func placeFor(cmd *exec.Cmd) (over func()) {
	share := shareOf(cmd)
	docker := slices.Contains(cmd.Args, "--provider=docker")
	if docker {
		take(inDocker, 1)
	}
	take(processors, share)
	return func() {
		processors.Release(share)
		if docker {
			inDocker.Release(1)
		}
	}
}

func take(from *semaphore.Weighted, n int64) { _ = from.Acquire(context.Background(), n) } // without an end it cannot fail
