package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// place is where the servers of a cell are to run, in words.
type place struct{ software, where string }

// planner looks whether cells can be run, as far as that can be told without starting anything.
type planner struct {
	seed    int64
	seen    map[place]error // what was looked for is not looked for again
	onPaper bool            // servers, engines and images are not looked for: nothing is to be run
}

// planAll settles for how long the clients of each run would work. Its error has all that would stop any of the cells: what
// cannot be, at its places in the file, or else what is not there.
func (p *planner) planAll(ctx context.Context, spec compare.Spec, tasks []compare.Task) error {
	var missing []error
	var impossible []compare.Task
	said := map[string]bool{}
	for i, task := range tasks {
		if task.Missing() == 0 {
			continue
		}
		planned, err := p.plan(ctx, task.Flags)
		tasks[i].Planned = planned
		switch {
		case err == nil:
		case errors.Is(err, clusters.ErrUsage):
			impossible = append(impossible, task)
		case !said[err.Error()]:
			said[err.Error()] = true
			missing = append(missing, fmt.Errorf("the cell %v: %w", task.Cell, err))
		}
	}
	if mistakes := p.mistakes(spec, impossible); len(mistakes) > 0 {
		return harness.Usage(config.Mistakes(nil).With(mistakes...))
	}
	return errors.Join(missing...)
}

// plan is an error if a run with these flags cannot be made, and else for how long its clients would work.
func (p *planner) plan(ctx context.Context, task []compare.Flag) (time.Duration, error) {
	var f runFlags
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse(arguments(task)); err != nil {
		return 0, harness.Usage(err)
	}
	f.Seed = p.seed
	if err := f.Check(); err != nil {
		return 0, err
	}
	config, err := harness.Prepare(f.Options)
	if err != nil {
		return 0, err
	}
	if p.onPaper {
		return time.Duration(config.Plan.TimeLimitMS) * time.Millisecond, nil
	}
	key := place{config.Backend.Name(), fmt.Sprintf("%+v %s", f.Where, f.Attach)}
	if _, looked := p.seen[key]; !looked {
		p.seen[key] = harness.Obtainable(ctx, f.Where, f.Software(config.Backend))
	}
	return time.Duration(config.Plan.TimeLimitMS) * time.Millisecond, p.seen[key]
}

// mistakes are the reasons for which these cells cannot be run, each once, at its place in the file.
func (p *planner) mistakes(spec compare.Spec, tasks []compare.Task) (all []*config.Error) {
	said := map[string]bool{}
	for _, task := range tasks {
		flags := slices.Clone(task.Flags)
		for {
			err := p.onlyOnPaper(flags)
			if err == nil {
				break
			}
			at := p.culprit(flags, err)
			mistake := located(spec, task.Cell, flags[at], err)
			if key := fmt.Sprint(mistake.Line, mistake.Column, task.Backend, err); !said[key] {
				said[key] = true
				all = append(all, mistake)
			}
			if at == 0 {
				break // without its backend there is no cell
			}
			flags = slices.Delete(flags, at, at+1)
		}
	}
	return all
}

// culprit finds the flag without which a run can be made, or fails for another reason: the backend, the first, if there is
// none.
func (p *planner) culprit(flags []compare.Flag, err error) int {
	other := 0
	for i := 1; i < len(flags); i++ {
		without := p.onlyOnPaper(slices.Delete(slices.Clone(flags), i, i+1))
		switch {
		case without == nil:
			return i
		case without.Error() != err.Error() && other == 0:
			other = i
		}
	}
	return other
}

// onlyOnPaper is why a run with these flags cannot be, whatever is there to run it.
func (p *planner) onlyOnPaper(flags []compare.Flag) error {
	paper := planner{seed: p.seed, onPaper: true}
	_, err := paper.plan(context.Background(), flags)
	return err
}

// located is a mistake at its place in the file. One of the command line has none, and names the first cell that it stops.
func located(spec compare.Spec, cell compare.Cell, flag compare.Flag, err error) *config.Error {
	at := spec.Places.Flag(cell, flag)
	if at.Line == 0 {
		return &config.Error{File: fmt.Sprintf("the cell %v", cell), Text: err.Error()}
	}
	return &config.Error{File: spec.File, Line: at.Line, Column: at.Column, Text: fmt.Sprintf("backend %s: %v", cell.Backend, err)}
}
