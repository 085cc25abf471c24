package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/local"
	"lockcheck/nemesis"
	"lockcheck/reports"
	"lockcheck/workloads"
	"lockcheck/workloads/client"
)

// runFlags is what a user asks of a run.
type runFlags struct {
	backend, client, workload, nemesis, guard, provider, out string
	clients, keys, nodes                                     int
	ttl, limit                                               time.Duration
	seed                                                     int64
	set                                                      map[string]string
	json, quiet                                              bool
}

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a real lock service under faults and judge what happened",
		Long: "run starts the servers of a backend, lets lock clients contend for locks and write to a protected resource\n" +
			"while a nemesis disturbs them, records everything, and judges the recording.\n\n" +
			"Exit codes: 0 pass · 1 violation · 2 inconclusive · 64 bad usage · 69 something needed is not there ·\n" +
			"70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck run --backend=etcd --nemesis=pause\n" +
			"  lockcheck run --backend=etcd --nemesis=pause --workload=fencing --seed=7 --time-limit=60s",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), f, cmd.Flags().Changed("seed"), shown{f.json, f.quiet, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", "", "the lock service: "+strings.Join(backendNames(), ", "))
	flags.StringVar(&f.client, "client", "", "the lock client: one of the backend's (default: its first), or the path of a program that speaks the client protocol")
	flags.StringVar(&f.workload, "workload", "lock", "what clients do: "+strings.Join(workloads.Names(), ", "))
	flags.StringVar(&f.nemesis, "nemesis", "none", "what disturbs them: "+strings.Join(nemesis.Names(), ", "))
	flags.StringVar(&f.guard, "guard", string(client.GuardBeforeWork), "where clients look at their lock before they write: "+strings.Join(guards(), ", "))
	flags.StringVar(&f.provider, "provider", "local", "where it runs: local")
	flags.IntVar(&f.clients, "clients", 5, "lock clients, each a process of its own (2 to 100)")
	flags.IntVar(&f.keys, "keys", 1, "locks (1 to 1000)")
	flags.IntVar(&f.nodes, "nodes", 0, "servers (default: the backend's usual number)")
	flags.DurationVar(&f.ttl, "ttl", 2*time.Second, "time to live of a lease")
	flags.DurationVar(&f.limit, "time-limit", 30*time.Second, "how long clients work, before the final phase")
	flags.Int64Var(&f.seed, "seed", 0, "of everything random (default: drawn, and printed)")
	flags.StringToStringVar(&f.set, "set", nil, "override a server setting: name=value")
	flags.StringVar(&f.out, "out", "lockcheck-out", "directory for run directories")
	flags.BoolVar(&f.json, "json", false, "print results.json on standard output, and nothing else there")
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict only")
	return cmd
}

func guards() []string {
	return []string{string(client.GuardNone), string(client.GuardBeforeWork), string(client.GuardBeforeWrite)}
}

// check finds what cannot be before anything is started.
func (f *runFlags) check() error {
	switch {
	case f.backend == "":
		return fmt.Errorf("--backend is missing; there are: %s", strings.Join(backendNames(), ", "))
	case !slices.Contains(guards(), f.guard):
		return fmt.Errorf("--guard: there is no guard %q; there are: %s", f.guard, strings.Join(guards(), ", "))
	case f.provider != "local":
		return fmt.Errorf("--provider: there is no provider %q; there are: local", f.provider)
	case f.clients < 2 || f.clients > 100:
		return fmt.Errorf("--clients=%d: use 2 to 100; one client alone contends with nobody", f.clients)
	case f.keys < 1 || f.keys > 1000:
		return fmt.Errorf("--keys=%d: use 1 to 1000", f.keys)
	case f.limit < time.Second || f.limit > 24*time.Hour:
		return fmt.Errorf("--time-limit=%v: use 1s to 24h", f.limit)
	case f.ttl <= 0:
		return fmt.Errorf("--ttl=%v: a lease has to last", f.ttl)
	}
	return nil
}

func run(ctx context.Context, f runFlags, seeded bool, how shown) error {
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
	provider, code, err := local.Enter(out, config.ClientCommand.Program)
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
	status.Line("lockcheck: %s, client %s, workload %s, nemesis %s, guard %s, seed %d, in %s", f.backend, config.Plan.LockClient,
		f.workload, f.nemesis, f.guard, f.seed, dir.Path())

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
	workload, err := workloads.Named(f.workload)
	if err != nil {
		return config, usageError{fmt.Errorf("--workload: %w", err)}
	}
	layout, err := backend.Layout(clusters.Options{Nodes: f.nodes, TTL: f.ttl, Settings: f.set})
	if err != nil {
		return config, err
	}
	disturb, err := nemesis.New(f.nemesis, nemesis.Plan{Seed: f.seed, TTL: layout.EffectiveTTL, Limit: f.limit})
	if err != nil {
		return config, usageError{fmt.Errorf("--nemesis: %w", err)}
	}
	plan := history.Plan{
		Version: history.FormatVersion, Run: runID(f.seed),
		Backend: f.backend, LockClient: lockClient, Workload: f.workload, Nemesis: f.nemesis, Guard: f.guard,
		Provider: f.provider, Seed: f.seed, Nodes: len(layout.Nodes), Clients: f.clients, Keys: f.keys,
		TimeLimitMS: f.limit.Milliseconds(), TTLMS: f.ttl.Milliseconds(), EffectiveMS: layout.EffectiveTTL.Milliseconds(),
		ElectionMS: layout.Election.Milliseconds(), Fenced: workload.Fenced,
		Exposure: disturb.Requirements(), Steps: disturb.Steps(), Settings: layout.Settings,
		Versions: map[string]string{"lockcheck": version(), "go": runtime.Version()},
		Host:     hostFacts(), Command: f.again(lockClient),
	}
	return workloads.Config{
		Plan: plan, Backend: backend, ClientCommand: command, Layout: layout, Nemesis: disturb, NeedsNetwork: nemesis.NeedsNetwork(f.nemesis),
	}, nil
}

// again is the command that makes this run once more.
func (f runFlags) again(lockClient string) []string {
	command := []string{
		"lockcheck", "run", "--backend=" + f.backend, "--client=" + lockClient, "--workload=" + f.workload,
		"--nemesis=" + f.nemesis, "--guard=" + f.guard, "--provider=" + f.provider, fmt.Sprintf("--clients=%d", f.clients),
		fmt.Sprintf("--keys=%d", f.keys), "--ttl=" + f.ttl.String(), "--time-limit=" + f.limit.String(),
		fmt.Sprintf("--seed=%d", f.seed),
	}
	if f.nodes != 0 {
		command = append(command, fmt.Sprintf("--nodes=%d", f.nodes))
	}
	for _, name := range slices.Sorted(maps.Keys(f.set)) {
		command = append(command, "--set="+name+"="+f.set[name])
	}
	return command
}

// ended explains a run that was not completed. Its history is kept and can be checked: what is in it may be a violation,
// but it cannot be a pass.
func ended(ctx context.Context, dir *reports.Dir, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return fmt.Errorf("%w; what was recorded is kept in %s", errInterrupted, dir.Path())
	}
	return fmt.Errorf("%w\nwhat was recorded, and the servers' logs, are kept in %s", err, dir.Path())
}
