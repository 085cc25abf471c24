package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/reports/compare"
	"lockcheck/reports/hunts"
	"lockcheck/reports/words"
)

// huntFlags is what a user asks of a hunt.
type huntFlags struct {
	run    runFlags
	budget time.Duration
	aims   []string
	jobs   int
	finds  int
	resume string
	arm    string // what the search is compared with; "" for the search
	show   huntShow
}

// notOfHunt are the flags of a run that a hunt decides itself, or has no use for.
var notOfHunt = []string{"nemesis", "attach", "attach-config", "max-rate", "slot", "execution"}

func huntCommand() *cobra.Command {
	var f huntFlags
	cmd := &cobra.Command{
		Use:   "hunt",
		Short: "Search for faults that break a lock",
		Long: "hunt makes many short runs of one lock under random faults. It learns from each run: it prefers faults that brought a lock\n" +
			"into a new state, or closer to a violation. Every third run ignores what it learned.\n" +
			"\n" +
			"hunt ends when its budget is spent, and lists its finds with their runs. To continue the search, use --resume.\n" +
			"\n" +
			"The hunt's directory has hunt.html, hunt.json and junit.xml. With --fail-on=new, hunt fails only for finds that are not in\n" +
			"the file of --known.\n" +
			"\n" +
			"Exit codes: 0 nothing found · 1 something found · 2 no run taught anything · 64 bad usage · 69 a dependency is\n" +
			"unavailable · 70 a bug in lockcheck · 130 interrupted",
		Example: "  lockcheck hunt --backend=redis --budget=20m\n" +
			"  lockcheck hunt --backend=etcd --client=election --for=service --budget=1h --jobs=2\n" +
			"  lockcheck hunt --backend=redlock --for=token-monotonicity,harm --finds=1\n" +
			"  lockcheck hunt --backend=etcd --fail-on=new --known=finds.yaml --junit=junit.xml\n" +
			"  lockcheck hunt --resume=lockcheck-out/latest-hunt",
		Args: flagsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.hunt(cmd.Context(), cmd.Flags(), output{false, f.run.quiet, false, cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

func (f *huntFlags) bind(flags *pflag.FlagSet) {
	harness.Declare(flags, &f.run.Options, func(flag harness.Flag) bool { return !slices.Contains(notOfHunt, flag.Name) })
	flags.BoolVar(&f.run.quiet, "quiet", false, "print the list of finds only")
	flags.DurationVar(&f.budget, "budget", 20*time.Minute, "how long to search")
	flags.StringSliceVar(&f.aims, "for", []string{"service"}, "what counts as a find: service (promises of the lock service), harm (to the data), or properties by name")
	flags.IntVar(&f.jobs, "jobs", min(runtime.NumCPU(), maxDefaultJobs), "runs to make in parallel, each in its own namespaces or containers")
	flags.IntVar(&f.finds, "finds", 0, "end after this number of different finds that are not in the file of --known (default: no limit)")
	flags.StringVar(&f.resume, "resume", "", "continue the hunt in this directory")
	flags.StringVar(&f.arm, "arm", "", "")
	_ = flags.MarkHidden("arm") // for scripts/hunts; it exists: the line above
	f.show.bind(flags)
	flags.Lookup("time-limit").DefValue = huntTimeLimit.String()
	flags.Lookup("time-limit").Usage = "how long the clients of each run work"
	flags.Lookup("out").Usage = "directory for the directories of hunts"
}

const huntTimeLimit = 12 * time.Second

func (f *huntFlags) hunt(ctx context.Context, given *pflag.FlagSet, out output) error {
	if err := f.check(given); err != nil {
		return harness.Usage(err)
	}
	if f.resume != "" {
		return f.goOn(ctx, given, out)
	}
	if !given.Changed("seed") {
		f.run.Seed = rand.Int64N(1 << 31)
	}
	if !given.Changed("time-limit") {
		f.run.TimeLimit = huntTimeLimit
	}
	search, wanted, err := f.search(ctx)
	if err != nil {
		return err
	}
	header := hunt.Header{Lockcheck: harness.Version(), For: f.aims, Seed: f.run.Seed, Arm: f.arm, Budget: f.budget, Finds: f.finds, FailOn: f.show.failOn, Known: f.show.known,
		KnownFinds: f.show.finds, Flags: []string{"--time-limit=" + f.run.TimeLimit.String()}}
	header.Flags = append(header.Flags, f.asked(given)...)
	if err := f.obtainable(ctx, header); err != nil {
		return err
	}
	dir, err := hunts.CreateDir(f.run.Out, time.Now())
	if err != nil {
		return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
	}
	release, err := hold(dir)
	if err != nil {
		return err
	}
	defer release()
	h, err := hunt.Create(dir, header, search)
	if err != nil {
		return err
	}
	return f.execute(ctx, h, dir, wanted, out)
}

// asked are the flags that all runs have, as words of a command line.
func (f *huntFlags) asked(given *pflag.FlagSet) (all []string) {
	for _, flag := range harness.Flags {
		if given.Changed(flag.Name) && !slices.Contains([]string{"seed", "out", "time-limit"}, flag.Name) {
			for _, value := range flag.Values(f.run.Options) {
				all = append(all, "--"+flag.Name+"="+value)
			}
		}
	}
	return all
}

// obtainable is an error if no run could be made at all: a fault that cannot be is left out, a server that is not there ends the hunt.
func (f *huntFlags) obtainable(ctx context.Context, header hunt.Header) error {
	p := planner{seed: f.run.Seed, seen: map[place]error{}}
	_, err := p.plan(ctx, flagsOf(header.Flags))
	return err
}

// flagsOf takes words of a command line apart.
func flagsOf(all []string) (flags []compare.Flag) {
	for _, word := range all {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		flags = append(flags, compare.Flag{Name: name, Value: value})
	}
	return flags
}

func (f *huntFlags) check(given *pflag.FlagSet) error {
	if f.resume != "" {
		if err := onlyGiven(given, fmt.Sprintf("cannot change what the hunt in %s was asked for: leave it out beside --resume", f.resume), append([]string{"resume", "jobs", "quiet"}, ofHuntShow...)...); err != nil {
			return err
		}
	}
	limit := f.run.TimeLimit
	if !given.Changed("time-limit") {
		limit = huntTimeLimit
	}
	_, known := arms[f.arm]
	switch {
	case f.jobs < 1 || f.jobs > maxJobs:
		return fmt.Errorf("--jobs=%d: use 1 to %d", f.jobs, maxJobs)
	case !known:
		return fmt.Errorf("--arm=%s: say hunt, uniform or mixes", f.arm)
	case f.finds < 0:
		return fmt.Errorf("--finds=%d: use 1 or more", f.finds)
	case f.budget < time.Minute || f.budget > 30*24*time.Hour:
		return fmt.Errorf("--budget=%s: use 1m to 720h: a run takes some 20 s", f.budget)
	case f.budget < limit+30*time.Second:
		return fmt.Errorf("--budget=%s: one run with --time-limit=%s takes longer", f.budget, limit)
	}
	if f.resume == "" {
		if err := f.show.check(given, hunt.Header{}); err != nil {
			return err
		}
	}
	_, err := f.wanted()
	return errors.Join(err, harness.CheckGiven(given))
}

// wanted are the properties whose violation is a find.
func (f *huntFlags) wanted() (names []model.Name, err error) {
	for _, aim := range f.aims {
		switch aim = strings.TrimSpace(aim); {
		case aim == "service":
			names = append(names, hunt.Service()...)
		case aim == "harm":
			names = append(names, hunt.Harm()...)
		case slices.Contains(checker.Names(), model.Name(aim)):
			names = append(names, model.Name(aim))
		default:
			return nil, fmt.Errorf("--for: there is no property %q%s; say service, harm, or: %s", aim, history.Meant("", aim, strings.Split(knownProperties(), ", ")), knownProperties())
		}
	}
	if len(names) == 0 {
		return nil, errors.New("--for names nothing: say service, harm, or properties")
	}
	return names, nil
}

// arms are the searches that --arm names.
var arms = map[string]hunt.Origin{"": "", "hunt": "", "uniform": hunt.Uniform, "mixes": hunt.Usual}

// search begins the search, of what such a run can have.
func (f *huntFlags) search(ctx context.Context) (*hunt.Search, []model.Name, error) {
	wanted, err := f.wanted()
	if err != nil {
		return nil, nil, harness.Usage(err)
	}
	menu, err := menuOf(ctx, &f.run)
	if err != nil {
		return nil, nil, err
	}
	search := hunt.NewSearch(menu, f.run.Seed)
	search.Only(arms[f.arm])
	return search, wanted, nil
}

func (f *huntFlags) goOn(ctx context.Context, given *pflag.FlagSet, out output) error {
	dir, err := filepath.EvalSymlinks(f.resume)
	if err != nil {
		return harness.Usage(fmt.Errorf("--resume: there is no hunt: %w", err))
	}
	header, err := hunt.ReadHeader(dir)
	switch {
	case err != nil:
		return harness.Usage(fmt.Errorf("--resume: %w", err))
	case header.Lockcheck != harness.Version():
		return harness.Usage(fmt.Errorf("--resume=%s: it was begun by lockcheck %s, this is %s, whose decisions may differ", dir, header.Lockcheck, harness.Version()))
	}
	if err := f.show.check(given, header); err != nil {
		return harness.Usage(err)
	}
	release, err := hold(dir)
	if err != nil {
		return harness.Usage(err)
	}
	defer release()
	again := huntFlags{}
	flags := pflag.NewFlagSet("hunt", pflag.ContinueOnError)
	again.bind(flags)
	if err := flags.Parse(header.Flags); err != nil {
		return harness.Usage(fmt.Errorf("--resume: %w", err))
	}
	again.run.Seed, again.aims, again.budget, again.jobs, again.show, again.arm = header.Seed, header.For, header.Budget, f.jobs, f.show, header.Arm
	search, wanted, err := again.search(ctx)
	if err != nil {
		return err
	}
	if err := again.obtainable(ctx, header); err != nil {
		return err
	}
	h, err := hunt.Resume(dir, search)
	if err != nil {
		return harness.Usage(fmt.Errorf("--resume: %w", err))
	}
	return again.execute(ctx, h, dir, wanted, out)
}

// execute makes the runs, and lists the finds.
func (f *huntFlags) execute(ctx context.Context, h *hunt.Hunt, dir string, wanted []model.Name, out output) error {
	defer h.Close()
	program, ctx, stop, err := makesRuns(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if !out.quiet {
		fmt.Fprintf(out.errOut, "lockcheck: seed %d, in %s; %s of %s are left\n", h.Header.Seed, dir, (h.Header.Budget - h.Spent()).Round(time.Second), h.Header.Budget)
	}
	runner := &processRunner{program: program, dir: dir, sideBySide: f.jobs, notice: func(string) {}}
	flags := flagsOf(h.Header.Flags)
	one := func(ctx context.Context, t hunt.Trial) hunt.Outcome {
		job := compare.Job{Task: compare.Task{Flags: append(slices.Clone(flags), compare.Flag{Name: "nemesis", Value: t.Nemesis})}, Position: t.N - 1, Seed: t.Seed, Attempt: 1}
		run := runner.Run(ctx, job)
		if run.Verdict == "" {
			why, _, _ := strings.Cut(strings.TrimPrefix(run.Error, "lockcheck: "), "\n")
			return hunt.Outcome{Dir: run.Dir, Barren: cmp.Or(portable(why, dir), "it came to no verdict"), Unmade: cmp.Or(run.ExitCode, exitDefect)}
		}
		o := hunt.OutcomeOf(filepath.Join(dir, filepath.FromSlash(run.Dir)), wanted)
		o.Dir, o.Barren = run.Dir, portable(o.Barren, dir)
		for i := range o.Finds {
			o.Finds[i].Known = f.likeInGallery(o.Finds[i])
		}
		return o
	}
	h.Ignores = f.show.ignores
	show := &huntShown{h: h, of: &f.show, run: &f.run, dir: dir, out: out}
	show.save(true)
	err = h.Go(ctx, f.jobs, one, func(e hunt.Ended) {
		if !e.Keeps() && e.Dir != "" { // what taught its lesson needs no room on the disk
			_ = os.RemoveAll(filepath.Join(dir, filepath.FromSlash(e.Dir)))
		}
		if !out.quiet {
			fmt.Fprintln(out.errOut, "lockcheck: "+words.Plain(progressOf(h, e)))
		}
		show.save(true)
	})
	return show.end(ctx, err)
}
