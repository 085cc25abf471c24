package backends

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/clusters/testkit"
)

// entered is the provider of a test binary that was asked to enter.
var entered *local.Provider

// Begin is how TestMain begins where some tests run on hosts. It returns if the program was started to run tests, and
// those go on inside if it was started by OnHosts. They have to be ended by local.Exit.
func Begin(helpers testkit.Helpers) {
	entered = testkit.Enter(func() (*local.Provider, int, error) { return local.Enter() })
	play(helpers)
}

// Harness is how TestMain begins where all tests are those of a harness: it enters, and returns what to open sites with.
// Tests have to be ended by local.Exit.
func Harness(helpers testkit.Helpers) *local.Provider {
	play(helpers)
	provider, code, err := local.Enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if provider == nil {
		os.Exit(code)
	}
	return provider
}

func play(helpers testkit.Helpers) {
	all := testkit.Helpers{local.JanitorCommand: local.Janitor}
	maps.Copy(all, helpers)
	all.Play(local.Exit)
}

// OnHosts runs a test, as each of these users, in a process that entered namespaces as the harness does.
func OnHosts(t *testing.T, users []uint32, test func(t *testing.T, site clusters.Site)) {
	t.Helper()
	if entered == nil {
		for _, uid := range users {
			t.Run(fmt.Sprintf("user %d", uid), func(t *testing.T) { testkit.Again(t, uid) })
		}
		return
	}
	site := testkit.Open(t, entered, clusters.Software{})
	if isolated, why := site.Isolated(); !isolated {
		t.Fatalf("hosts have no networks of their own: %s", why)
	}
	test(t, site)
}
