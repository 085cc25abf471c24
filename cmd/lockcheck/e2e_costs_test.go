//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// noteCost appends to the file that LOCKCHECK_COSTS names what a command took: seconds, processor seconds of all that it started and
// waited for (what an engine does for it is not among them), the test and the arguments.
func noteCost(t *testing.T, cmd *exec.Cmd, took time.Duration) {
	path := os.Getenv("LOCKCHECK_COSTS")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	args := slices.DeleteFunc(slices.Clone(cmd.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "--out=") })
	cost := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if _, err := fmt.Fprintf(file, "%.1f\t%.2f\t%s\t%s\n", took.Seconds(), cost.Seconds(), t.Name(), strings.Join(args, " ")); err != nil {
		t.Error(err)
	}
}
