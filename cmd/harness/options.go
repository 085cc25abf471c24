package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/workloads/client"
)

// Options is what a user asks of a run: the flags of lockcheck run, by the same names. Default has the usual values.
type Options struct {
	Backend, Client, Workload, Nemesis, Guard string
	Where                                     Where
	Clients                                   int // 2 to 100
	Keys                                      int // 1 to 1000
	Nodes                                     int // 0: the backend's usual number
	TTL                                       time.Duration
	TimeLimit                                 time.Duration // 1 s to 24 h; the final phase comes on top
	Seed                                      int64
	Set                                       map[string]string // server settings
	Out                                       string            // directory for run directories

	// Command makes the run once more; nil: lockcheck run with these options.
	Command []string
	// Expected is what a comparison expects of the run; its report says whether it came.
	Expected *history.Expected
	// Steps, if there are any, are those that the nemesis has to draw from the seed.
	Steps []string
}

// Default are the options that a run has where nothing else is said. The backend has none.
func Default() Options {
	return Options{
		Workload: "lock", Nemesis: "none", Guard: string(client.GuardBeforeWork), Where: Where{Provider: Auto},
		Clients: 5, Keys: 1, TTL: 2 * time.Second, TimeLimit: 30 * time.Second, Out: "lockcheck-out",
	}
}

// Guards are what --guard can be.
func Guards() []string {
	return []string{string(client.GuardNone), string(client.GuardBeforeWork), string(client.GuardBeforeWrite)}
}

// Check finds what cannot be before anything is started, and settles what follows from the rest (the provider, where only
// one understands an option).
func (o *Options) Check() error {
	switch {
	case o.Backend == "":
		return Usage(fmt.Errorf("--backend is missing; there are: %s", strings.Join(BackendNames(), ", ")))
	case !slices.Contains(Guards(), o.Guard):
		return Usage(fmt.Errorf("--guard: there is no guard %q; there are: %s", o.Guard, strings.Join(Guards(), ", ")))
	case !slices.Contains(ProviderNames(), o.Where.Provider):
		return Usage(fmt.Errorf("--provider: there is no provider %q; there are: %s", o.Where.Provider, strings.Join(ProviderNames(), ", ")))
	case o.Clients < 2 || o.Clients > 100:
		return Usage(fmt.Errorf("--clients=%d: use 2 to 100; one client alone contends with nobody", o.Clients))
	case o.Keys < 1 || o.Keys > 1000:
		return Usage(fmt.Errorf("--keys=%d: use 1 to 1000", o.Keys))
	case o.TimeLimit < time.Second || o.TimeLimit > 24*time.Hour:
		return Usage(fmt.Errorf("--time-limit=%v: use 1s to 24h", o.TimeLimit))
	case o.TTL <= 0:
		return Usage(fmt.Errorf("--ttl=%v: a lease has to last", o.TTL))
	}
	return o.place()
}

// Again is the command that makes this run once more.
func (o Options) Again(lockClient string) []string {
	if o.Command != nil {
		return o.Command
	}
	command := []string{
		"lockcheck", "run", "--backend=" + o.Backend, "--client=" + lockClient, "--workload=" + o.Workload,
		"--nemesis=" + o.Nemesis, "--guard=" + o.Guard, "--provider=" + o.Where.Provider, fmt.Sprintf("--clients=%d", o.Clients),
		fmt.Sprintf("--keys=%d", o.Keys), "--ttl=" + o.TTL.String(), "--time-limit=" + o.TimeLimit.String(),
		fmt.Sprintf("--seed=%d", o.Seed),
	}
	if o.Nodes != 0 {
		command = append(command, fmt.Sprintf("--nodes=%d", o.Nodes))
	}
	for _, more := range [][2]string{{"server-bin", o.Where.Places.Bin}, {"server-jar", o.Where.Places.Jar}, {"image", o.Where.Image}} {
		if more[1] != "" {
			command = append(command, "--"+more[0]+"="+more[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		command = append(command, "--set="+name+"="+o.Set[name])
	}
	return command
}
