//go:build e2e

package main_test

import (
	"fmt"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client/libraries"
)

// What is found of a library's lock is put down to a pause, as of every other client's (TestEveryClient): without one it is accused of nothing.
func TestEveryLibrary(t *testing.T) {
	t.Parallel()
	for _, library := range libraries.All {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", library.Name, seed), func(t *testing.T) {
				t.Parallel()
				args := []string{"run", "--provider=local", "--backend=" + library.Backend, "--nodes=1", "--clients=3",
					"--client=" + libraries.CommandLine(append(library.Command(t), library.Steady...)), "--nemesis=pause:holder@work,2ttl", atMost, fmt.Sprintf("--seed=%d", seed)}
				if library.Name == "rueidislock" { // it compares its own clock when it wakes up, and tells its user in time
					args = append(args, untilExposed)
				} else {
					args = endingAt(harmed, args...)
				}
				o := lockcheck(t, program, args...)
				if o.code != 1 && (o.code != 0 || library.Name != "rueidislock") {
					t.Errorf("exit %d, violated %v", o.code, o.violated())
				}
				exposed(t, o, history.PastLease("pauses"))
				onlyByPauses(t, o)
			})
		}
	}
}
