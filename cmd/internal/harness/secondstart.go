package harness

import (
	"slices"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
)

// The second start.
//
// On this machine a run has a network, process ids and mounts of its own, and a process can only be born into these. So this program starts
// itself once more inside them, with the same arguments and environment, and that inner process makes the run:
//
//	lockcheck run …       outer                         inner
//	  plan ─► enter ── starts itself again ──► plan ─► enter ─► servers, clients, load, drain, collect, judge, report
//	          │ waits; passes signals on                                                                      │
//	  exit ◄──┴───────────────────────────────── its exit code ◄──────────────────────────────────────────────┘
//
// What comes before enter happens in both: it starts nothing, and writes at most the program of a lock client, which the second one finds. Of
// the outer one's plan only what is outside is used, which follows from the options alone. A seed that nobody chose, the run's name and the
// prefix of its keys are the inner one's. Package local tells how the kernel does it. Where the kernel refuses there is no second start, and
// enter returns in the outer process.

// outside is what a run has to see of what it does not make itself.
type outside struct {
	paths  []string // files and directories of this machine: no mount of the run's own may cover them
	places []string // host:port to connect to, by their numbers (clusters.Outward)
}

func (p *planned) outside() outside {
	see := outside{
		paths:  slices.Concat([]string{absolute(p.asked.Out), p.ClientCommand.Program}, p.asked.Where.ServerPaths.Bins(), []string{p.asked.Where.ServerPaths.Jar}),
		places: p.Places(),
	}
	if p.Plan.PlanFile != "" {
		see.paths = append(see.paths, absolute(p.Plan.PlanFile))
	}
	if p.Attach != nil {
		see.paths = append(see.paths, p.Attach.Files()...)
	}
	if p.Tested != nil && p.Tested.Command.Program != "" {
		see.paths = append(see.paths, p.Tested.Command.Program)
	}
	return see
}

// enter makes the second start. Inside it returns the provider; outside it returns ExitStatus, once the inner process has ended.
func enter(at Where, see outside) (clusters.Provider, error) {
	provider, code, err := local.Entry{Keep: see.paths, Places: see.places}.Enter()
	switch {
	case err != nil:
		return nil, err
	case provider == nil:
		return nil, ExitStatus(code)
	}
	provider.ServerPaths = at.ServerPaths
	return provider, nil
}
