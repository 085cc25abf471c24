//go:build e2e

package main_test

import (
	"strings"
	"testing"
)

// Two services grant a lock each, which is no violation of either's: a run that is led to both does not begin, and leaves nothing.
func TestServersOfTwoServicesAreRefused(t *testing.T) {
	t.Parallel()
	const password = "of-the-locker"
	for name, start := range map[string]func(*testing.T) (endpoints, access, says string, there func() string){
		"etcd": func(t *testing.T) (string, string, string, func() string) {
			a, b := startEtcd(t, "127.0.0.1", ""), startEtcd(t, "127.0.0.1", "")
			return a.endpoint + "," + b.endpoint, "", "is not there at " + b.endpoint, func() string {
				return strings.Join(append(a.keys(t, ""), b.keys(t, "")...), "\n")
			}
		},
		"postgres": func(t *testing.T) (string, string, string, func() string) {
			a, b := startPostgres(t, password), startPostgres(t, password)
			return a.endpoint + "," + b.endpoint, writeAccess(t, password, map[string]string{
				"ca": together(t, a.ca, b.ca), "username": "locker", "database": "shared",
			}), "takes writes, and so does that at", func() string { return a.there(t) + b.there(t) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			endpoints, access, says, there := start(t)
			before := there()
			o := atOnce(t, program, "run", "--seed=1", "--backend="+name, "--attach="+endpoints, "--attach-config="+access)
			endsWith(t, o, 64, says)
			empty(t, o)
			if after := there(); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}
