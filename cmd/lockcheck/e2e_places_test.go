//go:build e2e

package main_test

import (
	"os/exec"
	"slices"
)

// Each run takes a place where it runs, however many tests are let go at once. With -parallel 64 that took a quarter less time, but
// what tests do beside their runs came at once, too: ensembles of JVMs were seen to elect no leader in a minute.
var (
	places = make(chan struct{}, 4)
	// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen
	// to answer nothing for a minute, on two cores.
	inDocker = make(chan struct{}, 2)
)

// placeFor waits until few enough runs go on where a command has its own; it is over when what it returns is called. A test that has
// a place starts nothing that waits for another.
func placeFor(cmd *exec.Cmd) (over func()) {
	where := places
	if slices.Contains(cmd.Args, "--provider=docker") {
		where = inDocker
	}
	where <- struct{}{}
	return func() { <-where }
}
