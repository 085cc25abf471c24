package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/workloads"
	"lockcheck/workloads/run"
)

// planned is a run that can be made. Its plan stays as it is.
type planned struct {
	run.Setup
	asked    Options
	provider Provider
	// passedOver is why no provider before it in the table was chosen; nil if none was passed over.
	passedOver error
}

// plan is the run that the options ask for, at the provider that they name, or at the first that can run it. Nothing is started.
func plan(ctx context.Context, o Options) (*planned, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	setup, err := Prepare(o)
	if err != nil {
		return nil, err
	}
	chosen, passedOver, err := Choose(ctx, o.Where, o.Software(setup.Backend))
	if err != nil {
		return nil, err
	}
	if _, err := filepath.Abs(o.Out); err != nil {
		return nil, Usage(fmt.Errorf("--out=%s: %w", o.Out, err))
	}
	o.Where.Provider, setup.Plan.Provider = chosen.Name, chosen.Name
	setup.Plan.Command = o.ReproduceCommand(setup.Plan.LockClient)
	return &planned{Setup: setup, asked: o, provider: chosen, passedOver: passedOver}, nil
}

// Prepare turns options that Check found right into a plan, and refuses what the backend or the nemesis cannot do. Nothing
// is started. The options are the whole of what the plan follows from. The provider may still have to be chosen.
func Prepare(o Options) (run.Setup, error) {
	var none run.Setup
	backend, err := backendNamed(o.Backend)
	if err != nil {
		return none, Usage(fmt.Errorf("--backend: %w", err))
	}
	lockClient, command, err := clientProgram(backend, o)
	if err != nil {
		return none, Usage(fmt.Errorf("--client: %w", err))
	}
	if err := checkServerPaths(backend.Software(), o.Where.ServerPaths); err != nil {
		return none, err
	}
	workload, err := workloads.Named(o.Workload)
	if err != nil {
		return none, Usage(fmt.Errorf("--workload: %w", err))
	}
	resource, err := resourceNamed(o.Resource, workload)
	if err != nil {
		return none, Usage(err)
	}
	layout, err := o.layout(backend)
	if err != nil {
		return none, err
	}
	attach, err := o.attach(backend)
	if err != nil {
		return none, err
	}
	setup := run.Setup{Backend: backend, ClientCommand: command, Tested: resource.tested, Layout: layout, Attach: attach}
	disturb, err := o.disturb(o.Conditions(setup))
	if err != nil {
		return none, Usage(err)
	}
	if o.Steps != nil && !slices.Equal(o.Steps, disturb.Steps()) {
		return none, Usage(errors.New("--replay: this version of lockcheck draws another schedule from that seed; use the version that plan.json names"))
	}
	slotMS, execution := o.schedule()
	plan := history.Plan{
		Version: history.FormatVersion, Run: runID(o.Seed), Command: o.ReproduceCommand(lockClient),
		Backend: o.Backend, LockClient: lockClient, Workload: o.Workload, Nemesis: o.Nemesis, Guard: o.Guard,
		SlotMS: slotMS, Execution: execution, Work: o.work(),
		Seed: o.Seed, Nodes: len(layout.Nodes) + len(layout.Fronts), Fronts: len(layout.Fronts), Clients: o.Clients, Keys: o.Keys,
		TimeLimitMS: o.TimeLimit.Milliseconds(), TTLMS: o.TTL.Milliseconds(), EffectiveMS: layout.EffectiveTTL.Milliseconds(),
		GraceMS: layout.Grace.Milliseconds(), LockDelayMS: layout.LockDelay.Milliseconds(), ElectionMS: layout.Election.Milliseconds(), LeaseClock: layout.LeaseClock,
		Until: UntilWords(o.Until), Expected: o.Expected, Steps: disturb.Steps(), Schedule: disturb.Schedule(), PlanFile: o.PlanFile, Settings: o.settings(layout),
		Versions: map[string]string{"lockcheck": Version(), "go": strings.TrimPrefix(runtime.Version(), "go")},
		Host:     HostFacts(),
		Attached: asked(attach),
	}
	plan.Exposure = plan.Requirements()
	resource.into(&plan, workload)
	setup.Plan, setup.Nemesis = plan, disturb
	return setup, nil
}

// Conditions are what decides which faults such a run can have. Of the setup they need Layout, Tested and Attach.
func (o Options) Conditions(s run.Setup) nemesis.Conditions {
	return nemesis.Conditions{
		Seed: o.Seed, TTL: s.Layout.EffectiveTTL + s.Layout.Grace, Limit: o.TimeLimit, Servers: len(s.Layout.Nodes), Fronts: len(s.Layout.Fronts), Clients: o.Clients,
		Leaderless: s.Layout.Election == 0 && s.Attach == nil, Attached: s.Attach != nil, Diskless: s.Layout.Diskless, Syncless: s.Layout.Syncless,
		ResourceUnderTest: s.Tested != nil && s.Tested.URL == "",
	}
}

// disturb is the nemesis that the seed draws, or that a plan file has. A file in which nothing was changed requires what the drawn one does.
func (o Options) disturb(plan nemesis.Conditions) (nemesis.Nemesis, error) {
	drawn, err := nemesis.New(o.Nemesis, plan)
	if err != nil {
		return nil, fmt.Errorf("--nemesis: %w", err)
	}
	if o.PlanFile == "" || reflect.DeepEqual(drawn.Schedule(), o.Schedule) {
		return drawn, nil
	}
	return nemesis.FromSchedule(o.Schedule, plan)
}
