package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/gallery"
	"lockcheck/reports/rate"
	"lockcheck/reports/words"
)

// galleryRun is a gallery to be run: its record, and for each item of that its half and its task.
type galleryRun struct {
	record gallery.Record
	halves []config.Half
	tasks  []compare.Task
	dir    string // "" for a new one
}

// add adds one half of a scenario.
func (g *galleryRun) add(s config.Scenario, half config.Half, flags []compare.Flag) {
	command := slices.Concat([]string{"lockcheck", "run"}, arguments(flags), []string{fmt.Sprintf("--seed=%d", g.record.Seed)})
	item := gallery.Item{Name: s.Name, Half: half.Name, Title: s.Title, Expects: gallery.Expects(half), Command: command, Outcome: gallery.NotRun,
		Reference: s.Reference, Teaches: s.Teaches, Because: half.Because, FixedIn: s.FixedIn, Measured: s.Measured}
	if s.File == s.Name { // a user's own
		item.File = absolutePath(s.File)
	}
	if g.record.Repeat > 1 {
		item.Repeated = &gallery.Repeated{Planned: g.record.Repeat, UntilKnown: g.record.UntilKnown, Runs: []compare.Run{}}
	}
	g.record.Items = append(g.record.Items, item)
	g.halves = append(g.halves, half)
	task := compare.NewTask(compare.Cell{Backend: s.Name, Workload: string(half.Name)}, flags, g.record.Repeat)
	task.UntilKnown = g.record.UntilKnown
	task.Rated = func(runs []compare.Run) rate.Rate { return item.Rate(half, runs) }
	g.tasks = append(g.tasks, task)
}

func (f *galleryFlags) newRun() galleryRun {
	return galleryRun{record: gallery.Record{Version: gallery.FormatVersion, Lockcheck: harness.Version(), Seed: f.run.Seed, StartedAt: time.Now().UTC()}}
}

// printCommands shows what the scenarios stand for; both halves, unless one was asked for.
func (f *galleryFlags) printCommands(chosen []config.Scenario, given *pflag.FlagSet, out output) error {
	var text strings.Builder
	for _, s := range chosen {
		halves := []config.Half{s.Failure, s.Contrast}
		if f.contrast {
			halves = halves[1:]
		}
		for _, half := range halves {
			command := append([]string{"lockcheck", "run"}, arguments(runFlagsOf(half, f.provider(given)))...)
			if given.Changed("seed") {
				command = append(command, fmt.Sprintf("--seed=%d", f.run.Seed))
			}
			if !out.quiet {
				fmt.Fprintf(&text, "# %s, %s: %s\n", words.Plain(s.Name), half.Name, gallery.Expects(half))
			}
			text.WriteString(words.ShellWords(command) + "\n")
		}
	}
	_, err := fmt.Fprint(out.out, text.String())
	return err
}

// newRunOf is a gallery of the halves that are asked for, with a seed that is drawn unless one was given.
func (f *galleryFlags) newRunOf(chosen []config.Scenario, given *pflag.FlagSet) galleryRun {
	if !given.Changed("seed") {
		f.run.Seed = rand.Int64N(1 << 31)
	}
	g := f.newRun()
	g.record.Provider = f.provider(given)
	if f.repeat > 1 {
		g.record.Repeat, g.record.UntilKnown = f.repeat, f.known
	}
	for _, s := range chosen {
		for _, half := range f.halves(s) {
			g.add(s, half, runFlagsOf(half, g.record.Provider))
		}
	}
	return g
}

// begin runs scenarios in a directory of their own.
func (f *galleryFlags) begin(ctx context.Context, chosen []config.Scenario, given *pflag.FlagSet, out output) error {
	g := f.newRunOf(chosen, given)
	var err error
	if g.dir, err = gallery.CreateDir(f.run.Out, time.Now()); err != nil {
		return harness.Usage(fmt.Errorf("--out=%s: %w", f.run.Out, err))
	}
	release, err := hold(g.dir)
	if err != nil {
		return err
	}
	defer release()
	return f.execute(ctx, g, out)
}

// goOn runs what an earlier gallery lacks. A run counts as long as its scenario still stands for the same command.
func (f *galleryFlags) goOn(ctx context.Context, out output) error {
	dir, err := filepath.EvalSymlinks(f.resume) // a new gallery moves latest-gallery
	if err != nil {
		return harness.Usage(fmt.Errorf("--resume: there is no gallery: %w", err))
	}
	if _, err := gallery.Read(dir); err != nil { // before anything is held
		return harness.Usage(fmt.Errorf("--resume: %w", err))
	}
	release, err := hold(dir)
	if err != nil {
		return err
	}
	defer release()
	earlier, err := gallery.Read(dir) // what a gallery that has just ended wrote last
	switch {
	case err != nil:
		return harness.Usage(fmt.Errorf("--resume: %w", err))
	case earlier.Lockcheck != harness.Version():
		return harness.Usage(fmt.Errorf("--resume=%s: it was run by lockcheck %s, this is %s; runs of two versions are not one gallery", dir, earlier.Lockcheck, harness.Version()))
	}
	f.run.Seed = earlier.Seed
	g := f.newRun()
	g.record.StartedAt, g.record.Provider, g.record.Repeat, g.record.UntilKnown, g.dir = earlier.StartedAt, earlier.Provider, earlier.Repeat, earlier.UntilKnown, dir
	for _, item := range earlier.Items {
		s, err := scenarioOf(item)
		if err != nil {
			return harness.Usage(err)
		}
		half := s.Half(item.Half)
		g.add(s, half, runFlagsOf(half, earlier.Provider))
		last := len(g.record.Items) - 1
		if now := &g.record.Items[last]; slices.Equal(now.Command, item.Command) {
			kept := item.Kept(half)
			now.InPod = item.InPod && len(kept) > 0
			now.Take(half, kept)
			g.tasks[last] = g.tasks[last].With(kept, g.record.Seed)
		}
	}
	return f.execute(ctx, g, out)
}

// absolutePath is for a gallery that is resumed from elsewhere.
func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

func scenarioOf(item gallery.Item) (config.Scenario, error) {
	if item.File != "" {
		return readScenario(item.File)
	}
	return scenarios.Named(item.Name, known())
}

// execute makes the runs, keeps what came of each at once, and shows the whole.
func (f *galleryFlags) execute(ctx context.Context, g galleryRun, out output) error {
	program, ctx, stop, err := makesRuns(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if !out.quiet {
		fmt.Fprintf(out.errOut, "lockcheck: seed %d, in %s\n", g.record.Seed, g.dir)
	}
	g.record.Interrupted = true // until it is over
	if err := g.save(); err != nil {
		return err
	}
	notice := func(line string) { fmt.Fprintln(out.errOut, words.Plain(line)) }
	runner := &galleryRunner{processRunner{program: program, dir: g.dir, sideBySide: f.jobs, notice: notice}, g.halves}
	compare.Execute(ctx, g.tasks, compare.Execution{Seed: g.record.Seed, Jobs: f.jobs}, runner, &galleryWatcher{&g, out})
	g.record.Interrupted = ctx.Err() != nil
	if err := g.save(); err != nil {
		return err
	}
	if err := g.show(out); err != nil {
		return fmt.Errorf("cannot show the gallery: %w", err)
	}
	return g.exit()
}

// exit is the error that ends the command with the gallery's exit code; nil if all was reproduced.
func (g *galleryRun) exit() error {
	if code := g.record.Code(); code != exitPass {
		return harness.ExitStatus(code)
	}
	return nil
}

func (g *galleryRun) save() error {
	g.record.ExitCode = g.record.Code()
	return g.record.Save(g.dir)
}

// show ends with what came of a single run, or with the table of several.
func (g *galleryRun) show(out output) error {
	if g.record.Interrupted && !out.quiet {
		fmt.Fprintf(out.errOut, "lockcheck: to go on: %s\n", words.ShellWords([]string{"lockcheck", "gallery", "--resume=" + g.dir}))
	}
	switch {
	case out.json:
		return g.record.Write(out.out)
	case out.quiet:
		_, err := fmt.Fprintln(out.out, gallery.Sentence(g.record))
		return err
	case len(g.record.Items) > 1:
		return gallery.Table(out.out, g.record, g.dir)
	}
	return gallery.One(out.out, g.record.Items[0], g.dir)
}

// galleryRunner makes no run whose lock client is not built.
type galleryRunner struct {
	processRunner
	halves []config.Half
}

func (r *galleryRunner) Run(ctx context.Context, job compare.Job) compare.Run {
	library := r.halves[job.Position].Library
	if library == "" {
		return r.processRunner.Run(ctx, job)
	}
	if _, err := os.Stat(filepath.Join(config.LibrariesDir, library)); err == nil {
		return r.processRunner.Run(ctx, job)
	}
	run := failedRun(job, exitUnavailable)
	run.Error = fmt.Sprintf("the lock client %s is looked for in %s, where it is not: build it in lockcheck's checkout (scripts/libraries %s), and run the gallery there",
		library, config.LibrariesDir, library)
	return run
}

// galleryWatcher judges each run, and keeps and shows what came of it.
type galleryWatcher struct {
	*galleryRun
	out output
}

// Began says which run is made.
func (w *galleryWatcher) Began(job compare.Job, left compare.Left) {
	if !w.out.quiet {
		item := w.record.Items[job.Position]
		fmt.Fprintf(w.out.errOut, "lockcheck: %d of %d: %s, %s: %s\n", left.Cell, left.Cells, words.Plain(item.Name), item.Half, words.ShellWords(failedRun(job, exitDefect).Command))
	}
}

// Ended keeps the outcome. That it cannot be written is said at the end, which writes all of it again.
func (w *galleryWatcher) Ended(job compare.Job, _ compare.Run, cell compare.Result) {
	item := &w.record.Items[job.Position]
	item.Take(w.halves[job.Position], cell.Runs)
	_ = w.save()
	if !w.out.quiet && len(w.record.Items) > 1 {
		fmt.Fprintf(w.out.errOut, "lockcheck: %s\n", gallery.Line(*item))
	}
}
