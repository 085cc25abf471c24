//go:build !e2e

package main

import (
	"fmt"
	"os"
	"testing"
)

// A comparison makes its runs by starting its own program, which is here the test's binary: it would run all tests again, each
// of which would start it once more. What is to be refused and is not ends with an error instead.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "run" {
		fmt.Fprintln(os.Stderr, "a unit test has started a run")
		os.Exit(exitDefect)
	}
	os.Exit(m.Run())
}
