//go:build e2e

package main_test

import (
	"fmt"
	"slices"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/clusters/client/libraries"
)

// Without a fault no library's lock is accused of anything that it did not do.
func TestEveryLibraryWithoutFaults(t *testing.T) {
	t.Parallel()
	for _, library := range libraries.All {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", library.Name, seed), func(t *testing.T) {
				t.Parallel()
				o := lockcheck(t, program, "run", "--provider=local", "--backend="+library.Backend, "--nodes=1", "--clients=3",
					"--client="+libraries.CommandLine(library.Command(t)), "--nemesis=none", "--time-limit=5s", fmt.Sprintf("--seed=%d", seed))
				violated := o.violated()
				if library.Steady != nil && slices.Equal(violated, []model.Name{model.Liveness}) {
					t.Log("its waiters hang")
					return
				}
				if o.code != 0 {
					t.Errorf("exit %d, violated %v, want a pass", o.code, violated)
				}
			})
		}
	}
}
