package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"lockcheck/reports/compare/config"
)

// What only a backend refuses is said of all cells at once, at the place in the file that it comes from, once each, beside what
// the file's own rules refuse.
func TestWhatBackendsRefuseIsSaidAtItsPlace(t *testing.T) {
	const file = `defaults: {ttl: 2500ms%s}
backends:
  etcd: {client: nope}
  redis: {set: {colour: red}, nodes: 2}
  redlock:
matrix:
  nemeses: [none, failover, "pause:node(9)"]
  workloads: [lock, fencing]
`
	places := []string{
		"lockcheck.yaml:1:17: backend etcd: ",
		`lockcheck.yaml:3:18: backend etcd: --client: backend etcd has no client "nope"`,
		"lockcheck.yaml:4:25: backend redis: ",
		"lockcheck.yaml:4:38: backend redis: ",
		"lockcheck.yaml:7:19: backend redlock: --nemesis: ",
		"lockcheck.yaml:7:29: backend etcd: --nemesis: ",
		"lockcheck.yaml:7:29: backend redis: --nemesis: ",
		"lockcheck.yaml:7:29: backend redlock: --nemesis: ",
	}
	for more, places := range map[string][]string{
		"":            places,
		", cliens: 5": append([]string{places[0], `lockcheck.yaml:1:25: defaults has no key "cliens"`}, places[1:]...),
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(config.Name, []byte(fmt.Sprintf(file, more)), 0o644); err != nil {
			t.Fatal(err)
		}
		got := lockcheck(t, "compare", "--list")
		lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
		if got.code != exitUsage || len(lines) != len(places)+1 || lines[0] != fmt.Sprintf("lockcheck: %d mistakes:", len(places)) {
			t.Fatalf("exit %d:\n%s", got.code, got.stderr)
		}
		for i, want := range places {
			if !strings.HasPrefix(lines[i+1], want) {
				t.Errorf("line %d is\n%s\nwant it to begin with\n%s", i+1, lines[i+1], want)
			}
		}
	}
}

// A flag of the command line stands nowhere in the file: what it breaks is said of the cells.
func TestWhatAFlagBreaksIsSaidOfTheCell(t *testing.T) {
	got := lockcheck(t, "compare", "--backends=redis,etcd,redlock", "--nemeses=none", "--ttl=2500ms", "--set=colour=red")
	for _, want := range []string{"lockcheck: 4 mistakes:\n", "the cell etcd / none / lock: ", "the cell redis / none / lock: ", "the cell redlock / none / lock: "} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%q is missing in\n%s", want, got.stderr)
		}
	}
}
