package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
	"lockcheck/reports"
	"lockcheck/workloads"
)

func runCommand() *cobra.Command {
	var f runFlags
	var replay string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a real lock service under faults and judge what happened",
		Long: "run starts the servers of a backend, lets lock clients contend for locks and write to a protected resource\n" +
			"while a nemesis disturbs them, records everything, and judges the recording.\n\n" +
			"Exit codes: 0 pass · 1 violation · 2 inconclusive · 64 bad usage · 69 something needed is not there ·\n" +
			"70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck run --backend=etcd --nemesis=pause\n" +
			"  lockcheck run --backend=etcd --nemesis=pause --workload=fencing --seed=7 --time-limit=60s\n" +
			"  lockcheck run --backend=redis --nemesis=partition:holder@work,1.5ttl --guard=before-write\n" +
			"  lockcheck run --replay=lockcheck-out/latest --provider=docker",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var steps []string
			if replay != "" {
				var err error
				if f, steps, err = replayed(replay, cmd.Flags()); err != nil {
					return err
				}
			}
			seeded := replay != "" || cmd.Flags().Changed("seed")
			return run(cmd.Context(), f, seeded, steps, shown{f.json, f.quiet, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.bind(cmd.Flags())
	cmd.Flags().StringVar(&replay, "replay", "", "a run directory: the same plan once more; beside it only flags that say where and how to show it")
	return cmd
}

// run makes a run. steps, where there are any, are those that the plan has to have.
func run(ctx context.Context, f runFlags, seeded bool, steps []string, how shown) error {
	if err := f.check(); err != nil {
		return usageError{err}
	}
	if !seeded {
		f.seed = rand.Int64N(1 << 31)
	}
	config, err := prepare(f)
	if err != nil {
		return err
	}
	if steps != nil && !slices.Equal(steps, config.Plan.Steps) {
		return usageError{errors.New("--replay: this version of lockcheck draws another schedule from that seed; use the version that plan.json names")}
	}
	chosen, passedOver, err := chooseProvider(ctx, f.where, config.Backend.Software())
	if err != nil {
		return err
	}
	config.Plan.Provider, f.where.provider = chosen.name, chosen.name
	config.Plan.Command = f.again(config.Plan.LockClient)
	out, err := filepath.Abs(f.out)
	if err != nil {
		return usageError{fmt.Errorf("--out=%s: %w", f.out, err)}
	}
	// Before Enter, which passes signals on to the inner process as soon as that is there: none may meet a process that is
	// not prepared for it.
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // else somebody said nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	f.where.keep = []string{out, config.ClientCommand.Program, f.where.places.Bin, f.where.places.Jar}
	provider, code, err := chosen.open(f.where)
	switch {
	case err != nil:
		return err
	case provider == nil: // the run was made by the inner process, inside namespaces
		return exitError(code)
	}
	config.Provider = provider

	status := reports.NewStatus(os.Stderr, reports.IsTerminal(os.Stderr), f.quiet)
	dir, err := reports.Create(f.out, config.Plan, time.Now())
	if err != nil {
		return asUsage(err)
	}
	config.HistoryPath, config.ResourcePath, config.NodesDir = absolute(dir.HistoryPath()), absolute(dir.ResourcePath()), absolute(dir.NodesDir())
	config.SavePlan = dir.WritePlan
	config.Log = status
	status.Line("lockcheck: %s, client %s, workload %s, nemesis %s, guard %s, provider %s, seed %d, in %s", f.backend, config.Plan.LockClient,
		f.workload, f.nemesis, f.guard, chosen.name, f.seed, dir.Path())
	if passedOver != nil {
		status.Line("provider %s, because it cannot be %v", chosen.name, passedOver)
	}

	made := workloads.New(config)
	stopWatching := watch(made, dir, status)
	err = made.Execute(ctx)
	stopWatching()
	if err != nil {
		return ended(ctx, dir, err)
	}
	judgement, err := dir.Judge(checker.Options{})
	if err != nil {
		return err // the files are our own: whatever is wrong with them is a defect
	}
	return conclude(dir, judgement, true, how)
}

// prepare turns flags into a plan, and refuses what the backend or the nemesis cannot do.
func prepare(f runFlags) (workloads.Config, error) {
	var config workloads.Config
	backend, err := backendNamed(f.backend)
	if err != nil {
		return config, usageError{fmt.Errorf("--backend: %w", err)}
	}
	lockClient, command, err := clientProgram(backend, f.client)
	if err != nil {
		return config, usageError{fmt.Errorf("--client: %w", err)}
	}
	if err := checkPlaces(backend.Software(), f.where.places); err != nil {
		return config, usageError{err}
	}
	workload, err := workloads.Named(f.workload)
	if err != nil {
		return config, usageError{fmt.Errorf("--workload: %w", err)}
	}
	layout, err := backend.Layout(clusters.Options{Nodes: f.nodes, TTL: f.ttl, Settings: f.set})
	if err != nil {
		return config, err
	}
	disturb, err := nemesis.New(f.nemesis, nemesis.Plan{
		Seed: f.seed, TTL: layout.EffectiveTTL, Limit: f.limit, Servers: len(layout.Nodes), Clients: f.clients,
		Leaderless: layout.Election == 0,
	})
	if err != nil {
		return config, usageError{fmt.Errorf("--nemesis: %w", err)}
	}
	plan := history.Plan{
		Version: history.FormatVersion, Run: runID(f.seed),
		Backend: f.backend, LockClient: lockClient, Workload: f.workload, Nemesis: f.nemesis, Guard: f.guard,
		Seed: f.seed, Nodes: len(layout.Nodes), Clients: f.clients, Keys: f.keys,
		TimeLimitMS: f.limit.Milliseconds(), TTLMS: f.ttl.Milliseconds(), EffectiveMS: layout.EffectiveTTL.Milliseconds(),
		ElectionMS: layout.Election.Milliseconds(), Fenced: workload.Fenced,
		Exposure: disturb.Requirements(), Steps: disturb.Steps(), Settings: layout.Settings,
		Versions: map[string]string{"lockcheck": version(), "go": runtime.Version()},
		Host:     hostFacts(),
	}
	return workloads.Config{
		Plan: plan, Backend: backend, ClientCommand: command, Layout: layout, Nemesis: disturb,
	}, nil
}

// ended explains a run that was not completed. Its history is kept and can be checked: what is in it may be a violation,
// but it cannot be a pass.
func ended(ctx context.Context, dir *reports.Dir, err error) error {
	kept := dir.Kept()
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		err = errInterrupted
	}
	if kept == "" {
		return errors.Join(err, dir.Discard())
	}
	return fmt.Errorf("%w\n%s are kept in %s", err, kept, dir.Path())
}
