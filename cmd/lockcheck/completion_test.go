package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
)

// What the shell is offered, as its scripts ask for it.
func TestCompletion(t *testing.T) {
	const nothing, noFiles, list, directories, endings = cobra.ShellCompDirectiveDefault, cobra.ShellCompDirectiveNoFileComp,
		cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace, cobra.ShellCompDirectiveFilterDirs, cobra.ShellCompDirectiveFilterFileExt
	backends := harness.BackendNames()
	if len(backends) == 0 || !slices.IsSorted(backends) {
		t.Errorf("the backends are listed as %q, want them in the order of the alphabet", backends)
	}
	for _, c := range []struct {
		typed     string
		want      string // all that is offered
		directive cobra.ShellCompDirective
	}{
		{"run --backend=", strings.Join(backends, " "), noFiles},
		{"run --backend red", "redis redlock", noFiles},
		{"run --backend=etcd --client=", "concurrency election lease-txn lease-id-token unlock-retry", noFiles},
		{"run --backend=redlock --client=", "redlock unchecked late-checked redsync redsync-extend redsync-setnx-extend", noFiles},
		{"run --backend=etcd --client=./", "", nothing},
		{"plan --workload=", "lock fencing jobs", noFiles},
		{"run --guard=before-", "before-work before-write", noFiles},
		{"run --resource=", "plain fenced cas etcd postgres redis", noFiles},
		{"compare --resource=", "plain fenced cas etcd postgres redis", noFiles},
		{"run --provider=", "auto local docker", noFiles},
		{"run --nemesis=p", "pause partition power", list},
		{"run --nemesis=pause:h", "pause:holder", list},
		{"run --nemesis=pause:holder@work", "pause:holder@work pause:holder@worked", list},
		{"run --replay=", "", directories},
		{"run --seed=", "", noFiles},
		{"compare --backends=etcd,red", "etcd,redis etcd,redlock", list},
		{"compare --backends=redis,re", "redis,redlock", list},
		{"compare --nemeses=none,pa", "none,pause none,partition", list},
		{"compare --workloads=", "lock fencing jobs", list},
		{"run --execution=at-", "at-least-once at-most-once", noFiles},
		{"compare --file=", "yaml yml", endings},
		{"compare --resume=", "", directories},
		{"compare --check=", "", directories},
		{"run --until=v", "violation", list},
		{"run --until=ex", "exposed", list},
		{"compare ", "", noFiles},
		{"check --property=stale-write,lo", "stale-write,lock-linearizability stale-write,lost-update", list},
		{"check --format=", "lockcheck jepsen", noFiles},
		{"check ", "", directories},
		{"check one ", "", noFiles},
		{"check --format=jepsen ", "", nothing},
		{"merge ", "", directories},
		{"doctor --image=", "", noFiles},
	} {
		got := lockcheck(t, append([]string{"__complete"}, strings.Split(c.typed, " ")...)...)
		var offered []string
		directive := ""
		for _, line := range strings.Split(strings.TrimSpace(got.stdout), "\n") {
			if after, ok := strings.CutPrefix(line, ":"); ok {
				directive = after
				continue
			}
			name, _, _ := strings.Cut(line, "\t")
			if _, value, ok := strings.Cut(name, "="); ok { // cobra repeats --flag= for some shells
				name = value
			}
			offered = append(offered, name)
		}
		// Cobra leaves it to the shell to drop what does not begin with what was typed.
		typed := c.typed[strings.LastIndexAny(c.typed, " =")+1:]
		if c.directive != endings {
			offered = slices.DeleteFunc(offered, func(name string) bool { return !strings.HasPrefix(name, typed) })
		}
		if want := strings.Fields(c.want); !slices.Equal(offered, want) || directive != fmt.Sprint(int(c.directive)) {
			t.Errorf("%q: offered %q (%s), want %q (%s)", c.typed, offered, directive, want, fmt.Sprint(int(c.directive)))
		}
	}
}

// Every entry of the table is for a flag that some command has.
func TestCompletionsAreOfFlags(t *testing.T) {
	has := map[string]bool{}
	for _, cmd := range rootCommand().Commands() {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { has[flag.Name] = true })
	}
	for name := range completions {
		if !has[name] {
			t.Errorf("no command has a flag --%s", name)
		}
	}
}
