//go:build e2e

package main_test

import (
	"os/exec"
	"slices"
)

// Runs wait most of their time, so more of them go on at once than there are processors. Tests are all let go at once
// (-parallel 64), and each run takes a place where it runs: one that waits for the engine keeps no other from running.
var (
	places = make(chan struct{}, 4)
	// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen
	// to answer nothing for a minute, on two cores.
	inDocker = make(chan struct{}, 2)
)

// placeFor waits until few enough runs go on where a command has its own; it is over when what it returns is called. Whoever has
// a place starts nothing that waits for another.
func placeFor(cmd *exec.Cmd) (over func()) {
	where := places
	if slices.Contains(cmd.Args, "--provider=docker") {
		where = inDocker
	}
	where <- struct{}{}
	return func() { <-where }
}
