package locktest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
)

// Client is a lock of one's own: Plan.Client names it, with any backend.
type Client struct {
	Name string         // a word that no lock client of lockcheck's has
	New  client.Factory // called once in each of the client's processes
}

// program is what a run calls this binary when it starts it again.
const program = "lockcheck"

// dispatched reports that this process is none of those, and that those would be what they have to.
var dispatched bool

// registered are the names of clients of one's own.
var registered = map[string]struct{}{}

// Main is TestMain: it runs the tests and exits. In processes that a run has started it does not return to them, but does
// what the run wants.
func Main(m *testing.M, clients ...Client) {
	Dispatch(clients...)
	os.Exit(m.Run())
}

// Dispatch is for a TestMain that does more than run the tests: the first thing that it calls. It returns in the process
// of the tests only.
func Dispatch(clients ...Client) {
	for _, c := range clients {
		if err := harness.AddClient(clusters.LockClient{Name: c.Name, About: "a lock client of this test's own", New: c.New}); err != nil {
			panic(fmt.Sprintf("locktest.Main: %v", err))
		}
		registered[c.Name] = struct{}{}
	}
	if filepath.Base(os.Args[0]) == program && len(os.Args) > 1 {
		// Go exits with 2 after a panic, which here would mean "inconclusive": let it abort instead.
		debug.SetTraceback("crash")
		local.Exit(become(os.Args[1], os.Args[2:]))
	}
	dispatched = true
}

// become does what a process of a run is for, and returns its exit code.
func become(name string, args []string) int {
	for _, role := range append([]harness.Role{{Name: runRole, Run: runAndReport}}, harness.Roles...) {
		if role.Name != name {
			continue
		}
		err := role.Run(context.Background(), args)
		if err == nil {
			return 0
		}
		if message := err.Error(); message != "" {
			fmt.Fprintln(os.Stderr, message)
		}
		return harness.ExitCode(err)
	}
	fmt.Fprintf(os.Stderr, "%s: this test binary cannot be %q\n", program, name)
	return harness.ExitUsage
}
