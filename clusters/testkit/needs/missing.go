// Package needs finds what tests need of a machine: free ports, and whatever it may lack. It imports nothing of the project, so that the tests of
// every folder may use it.
package needs

import (
	"os"
	"testing"
)

// Skip skips a test for want of something; why says of what. With CI=true, where everything has to be there, the test fails: one that is
// skipped unseen shows nothing.
func Skip(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}
