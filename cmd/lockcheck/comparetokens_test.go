package main

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/reports/compare"
)

// Fencing without tokens tests nothing: that is said before the runs, not found out after them.
func TestFencingWithoutTokensIsSaid(t *testing.T) {
	const note = "gives no tokens: fencing rejects nothing; setnx-incr has them"
	for name, test := range map[string]struct{ backend, client, workload, want string }{
		"on a resource that looks at none":  {"redis", "", "fencing --resource=plain", ""},
		"on one that compares bases":        {"redis", "", "fencing --resource=cas", ""},
		"a lock before a fenced resource":   {"redis", "", "lock --resource=fenced", ""},
		"the default client":                {"redis", "", "fencing", "setnx " + note},
		"another one":                       {"redis", "get-del", "fencing", "get-del " + note},
		"one that has tokens":               {"redis", "setnx-incr", "fencing", ""},
		"a program of the user's":           {"redis", "./mine", "fencing", ""},
		"without fencing":                   {"redis", "", "lock", ""},
		"no client of the backend has them": {"redlock", "", "fencing", ""},
		"all clients have them":             {"etcd", "", "fencing", ""},
	} {
		workload, resource, named := strings.Cut(test.workload, " --resource=")
		flags := []compare.Flag{{Name: "backend", Value: test.backend}, {Name: "workload", Value: workload}}
		if named {
			flags = append(flags, compare.Flag{Name: "resource", Value: resource})
		}
		if test.client != "" {
			flags = append(flags, compare.Flag{Name: "client", Value: test.client})
		}
		if got := noTokensNote(flags); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	cell := func(nemesis string) compare.Task {
		return compare.NewTask(compare.Cell{Backend: "redis", Nemesis: nemesis, Workload: "fencing"},
			[]compare.Flag{{Name: "backend", Value: "redis"}, {Name: "workload", Value: "fencing"}}, 1)
	}
	if got := noTokensNotes([]compare.Task{cell("none"), cell("pause")}); !slices.Equal(got, []string{"redis, workload fencing: setnx " + note}) {
		t.Errorf("of two cells: %q", got)
	}
	t.Chdir(t.TempDir())
	got := lockcheck(t, "compare", "--list", "--seed=1", "--backends=redis", "--nemeses=none", "--workloads=lock,fencing")
	if got.code != exitPass || strings.Count(got.stdout, "\n   note: setnx "+note+"\n") != 1 {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
