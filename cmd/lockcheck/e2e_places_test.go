//go:build e2e

package main_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Tests wait most of their time for runs, and runs for their faults: several go on at once, and each takes of the processors what it uses. A
// quarter of them is left for the starts of servers, which come at once.
var (
	processors = semaphore.NewWeighted(int64(runtime.NumCPU()) * 75)
	// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen
	// to answer nothing for a minute, on two cores.
	inDocker = semaphore.NewWeighted(2)
)

const percentOfSeveral = 55 // of a command that names no backend, such as a comparison with two runs side by side

// shareOf is what a command takes: what its backend does, if it names one.
func shareOf(cmd *exec.Cmd) int64 {
	for _, arg := range slices.Backward(cmd.Args) { // the last one counts
		if backend, named := strings.CutPrefix(arg, "--backend="); named && descriptors[backend].Processor > 0 {
			return descriptors[backend].Processor
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
	waitForRoom()
	return func() {
		goingOn.Add(-1)
		processors.Release(share)
		if docker {
			inDocker.Release(1)
		}
	}
}

var (
	goingOn  atomic.Int64 // runs that have a place
	entering sync.Mutex   // one run at a time measures, and begins
)

// waitForRoom has a run wait for up to a second while others go on and the machine is too busy, be it with what the shares do not count
// (other tests, the engine), or because its processors are another machine's, too: the starts of many at once would make faults late. The
// kernel tells how long some process waited for a processor: two that are busy by nine tenths make that three quarters of the time.
func waitForRoom() {
	entering.Lock()
	defer entering.Unlock()
	const most = 0.75
	for range 2 {
		before, began := waitedForProcessor(), time.Now()
		if goingOn.Load() == 0 {
			break
		}
		time.Sleep(500 * time.Millisecond)
		if waitedForProcessor()-before < time.Duration(most*float64(time.Since(began))) {
			break
		}
	}
	goingOn.Add(1)
}

// waitedForProcessor is for how long some process has waited for a processor since the machine began; 0 where the kernel does not tell.
// Source: Documentation/accounting/psi.rst of Linux.
func waitedForProcessor() time.Duration {
	text, _ := os.ReadFile("/proc/pressure/cpu")
	_, total, _ := strings.Cut(string(text), "total=")
	total, _, _ = strings.Cut(total, "\n")
	microseconds, _ := strconv.ParseInt(total, 10, 64)
	return time.Duration(microseconds) * time.Microsecond
}

func take(from *semaphore.Weighted, n int64) { _ = from.Acquire(context.Background(), n) } // without an end it cannot fail
