//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
)

// kindsOf are the faults of a nemesis, by name.
func kindsOf(t *testing.T, spec string) (kinds []string) {
	t.Helper()
	parsed, err := nemesis.Parse(spec)
	if err != nil {
		t.Errorf("%s: %v", spec, err)
	}
	for _, mix := range parsed {
		for _, f := range mix {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// attachedBackends are those that the tests of attached services name.
func attachedBackends(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("e2e_attach*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range regexp.MustCompile(`--backend=(\w+)`).FindAllStringSubmatch(string(text), -1) {
			all[named[1]] = true
		}
	}
	return all
}

// Every fault, backend and lock client there is has its rows in the tables of whole runs.
func TestEveryEntryHasItsRows(t *testing.T) {
	met := map[string]bool{}
	injected := map[string]bool{"loss": slices.Contains(kindsOf(t, sixKinds), "loss")} // by TestFaultsAsAnUnprivilegedUser
	for _, row := range aimedRows {
		met[row.backend] = true
		for _, arg := range row.args {
			if spec, ok := strings.CutPrefix(arg, "--nemesis="); ok {
				for _, kind := range kindsOf(t, spec) {
					injected[kind] = true
				}
			}
		}
	}
	diedIn := map[string]bool{}
	for _, specs := range faultsToDieIn {
		for _, spec := range specs {
			for _, kind := range kindsOf(t, spec) {
				diedIn[kind] = true
			}
		}
	}
	for _, fault := range history.Faults() {
		if !injected[string(fault.Name)] {
			t.Errorf("no row of aimedRows says what comes of the fault %s", fault.Name)
		}
		if !diedIn[string(fault.Name)] && !fault.OfService { // which is the service's own doing
			t.Errorf("no row of faultsToDieIn has a fault %s end with its harness", fault.Name)
		}
	}
	tested := map[string]bool{}
	for _, row := range clientRows {
		tested[row.backend+" "+row.client] = true
	}
	attached := attachedBackends(t)
	for _, b := range harness.Backends {
		if _, can := b.(clusters.Attachable); can && !attached[b.Name()] {
			t.Errorf("no e2e_attach*_test.go attaches to a service of the backend %s", b.Name())
		}
		if !met[b.Name()] {
			t.Errorf("no row of aimedRows says what comes of a fault of the backend %s", b.Name())
		}
		for _, c := range b.Clients()[1:] {
			if !tested[b.Name()+" "+c.Name] {
				t.Errorf("no row of clientRows is about the lock client %s of %s", c.Name, b.Name())
			}
		}
	}
}
