package harness

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/workloads"
)

// Prepare turns options that Check found right into a plan, and refuses what the backend or the nemesis cannot do. Nothing
// is started. The options are the whole of what the plan follows from.
func Prepare(o Options) (workloads.Config, error) {
	var config workloads.Config
	backend, err := backendNamed(o.Backend)
	if err != nil {
		return config, Usage(fmt.Errorf("--backend: %w", err))
	}
	lockClient, command, err := clientProgram(backend, o)
	if err != nil {
		return config, Usage(fmt.Errorf("--client: %w", err))
	}
	if err := checkServerPaths(backend.Software(), o.Where.ServerPaths); err != nil {
		return config, err
	}
	workload, err := workloads.Named(o.Workload)
	if err != nil {
		return config, Usage(fmt.Errorf("--workload: %w", err))
	}
	resource, err := resourceNamed(o.Resource, workload)
	if err != nil {
		return config, Usage(err)
	}
	layout, err := o.layout(backend)
	if err != nil {
		return config, err
	}
	attach, err := o.attach(backend)
	if err != nil {
		return config, err
	}
	disturb, err := o.disturb(nemesis.Plan{
		Seed: o.Seed, TTL: layout.EffectiveTTL + layout.Grace, Limit: o.TimeLimit, Servers: len(layout.Nodes), Fronts: len(layout.Fronts), Clients: o.Clients,
		Leaderless: layout.Election == 0 && attach == nil, Attached: attach != nil, Diskless: layout.Diskless, Syncless: layout.Syncless, ResourceUnderTest: resource.tested != nil && resource.tested.URL == "",
	})
	if err != nil {
		return config, Usage(err)
	}
	if o.Steps != nil && !slices.Equal(o.Steps, disturb.Steps()) {
		return config, Usage(errors.New("--replay: this version of lockcheck draws another schedule from that seed; use the version that plan.json names"))
	}
	slotMS, execution := o.schedule()
	plan := history.Plan{
		Version: history.FormatVersion, Run: runID(o.Seed), Command: o.ReproduceCommand(lockClient),
		Backend: o.Backend, LockClient: lockClient, Workload: o.Workload, Nemesis: o.Nemesis, Guard: o.Guard,
		SlotMS: slotMS, Execution: execution, Work: o.work(),
		Seed: o.Seed, Nodes: len(layout.Nodes) + len(layout.Fronts), Clients: o.Clients, Keys: o.Keys,
		TimeLimitMS: o.TimeLimit.Milliseconds(), TTLMS: o.TTL.Milliseconds(), EffectiveMS: layout.EffectiveTTL.Milliseconds(),
		GraceMS: layout.Grace.Milliseconds(), LockDelayMS: layout.LockDelay.Milliseconds(), ElectionMS: layout.Election.Milliseconds(), LeaseClock: layout.LeaseClock,
		Until: UntilWords(o.Until), Expected: o.Expected, Exposure: slices.Concat(disturb.Requirements(), workload.Requires), Steps: disturb.Steps(), Schedule: disturb.Schedule(), PlanFile: o.PlanFile, Settings: o.settings(layout),
		Versions: map[string]string{"lockcheck": Version(), "go": strings.TrimPrefix(runtime.Version(), "go")},
		Host:     HostFacts(),
		Attached: asked(attach),
	}
	if plan.Works().Long {
		plan.Exposure = append(plan.Exposure, history.Requirement{Name: history.ExposureRenewed, Min: 1})
	}
	resource.into(&plan, workload)
	return workloads.Config{
		Plan: plan, Backend: backend, ClientCommand: command, Tested: resource.tested, Layout: layout, Nemesis: disturb,
		Attach: attach,
	}, nil
}

// disturb is the nemesis that the seed draws, or that a plan file has. A file in which nothing was changed requires what the drawn one does.
func (o Options) disturb(plan nemesis.Plan) (nemesis.Nemesis, error) {
	drawn, err := nemesis.New(o.Nemesis, plan)
	if err != nil {
		return nil, fmt.Errorf("--nemesis: %w", err)
	}
	if o.PlanFile == "" || reflect.DeepEqual(drawn.Schedule(), o.Schedule) {
		return drawn, nil
	}
	return nemesis.FromSchedule(o.Schedule, plan)
}
