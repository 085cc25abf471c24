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

// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen to answer nothing
// for a minute, on two cores.
var inDocker = semaphore.NewWeighted(2)

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

// The runs that have a place.
var (
	taken    atomic.Int64 // the sum of their shares
	entering sync.Mutex   // one command at a time looks for room, and begins
)

// placeFor waits until there is room for a command; it is over when what it returns is called. A test that has a place starts nothing that
// waits for another.
func placeFor(cmd *exec.Cmd) (over func()) {
	share := shareOf(cmd)
	docker := slices.Contains(cmd.Args, "--provider=docker")
	if docker {
		_ = inDocker.Acquire(context.Background(), 1) // without an end it cannot fail
	}
	waitForRoom(share)
	return func() {
		taken.Add(-share)
		if docker {
			inDocker.Release(1)
		}
	}
}

// waitForRoom takes a share. Tests wait most of their time for runs, and runs for their faults: several go on at once. Up to three quarters
// of the processors are given away by the shares; the rest is for the starts of servers, which come at once. A start waits for up to 2 s
// while processes wait for processors, be it because of what the shares do not count (other tests, the engine), or because the processors are
// another machine's, too. Where processors are fast, runs take less than their shares: as long as few processes wait, more may begin.
func waitForRoom(share int64) {
	entering.Lock()
	defer entering.Unlock()
	const (
		window = 500 * time.Millisecond
		busy   = 0.75 // of the time some process waits: two processors that are busy by nine tenths
		quiet  = 0.3
		enough = 3 // times what the shares give away
	)
	most := int64(runtime.NumCPU()) * 75
	for windows := 1; taken.Load() > 0; windows++ {
		before, began := waitedForProcessor(), time.Now()
		time.Sleep(window)
		after := waitedForProcessor()
		waited := float64(after-before) / float64(time.Since(began))
		sum := taken.Load() + share
		if sum <= most && (waited < busy || windows >= 4) || sum <= enough*most && waited < quiet && after > 0 {
			break
		}
	}
	taken.Add(share)
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
