package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/workloads"
)

// maxAhead bounds how many cells an error tells of: one wrong setting can spoil them all.
const maxAhead = 5

// plan looks whether the cells can be, as far as their plans tell, and for how long the clients of each would work. Nothing is
// looked for outside of this program. The error tells of every cell that cannot be.
func (a asked) plan() error {
	var ahead mistakes
	for i, task := range a.tasks {
		if task.Missing() == 0 {
			continue
		}
		_, config, err := planned(task, a.Seed)
		ahead.add(task.Cell, err)
		a.tasks[i].Planned = time.Duration(config.Plan.TimeLimitMS) * time.Millisecond
	}
	return ahead.join()
}

// planned is what the flags of a cell say, and the plan that follows from them.
func planned(task compare.Task, seed int64) (harness.Options, workloads.Config, error) {
	var f runFlags
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse(arguments(task.Flags)); err != nil {
		return f.Options, workloads.Config{}, harness.Usage(err)
	}
	f.Seed = seed
	if err := f.Check(); err != nil {
		return f.Options, workloads.Config{}, err
	}
	config, err := harness.Prepare(f.Options)
	return f.Options, config, err
}

// place is where the servers of a cell are to run, in words.
type place struct{ software, where string }

// lookForServers looks whether the servers of every cell are to be had where it is to run, without starting them.
func (a asked) lookForServers(ctx context.Context) error {
	var ahead mistakes
	looked := map[place]bool{}
	for _, task := range a.tasks {
		if task.Missing() == 0 {
			continue
		}
		options, config, err := planned(task, a.Seed)
		if err != nil {
			return err
		}
		key := place{config.Backend.Name(), fmt.Sprintf("%+v", options.Where)}
		if !looked[key] {
			looked[key] = true
			ahead.add(task.Cell, harness.Obtainable(ctx, options.Where, config.Backend.Software()))
		}
	}
	return ahead.join()
}

// mistakes are what would stop cells.
type mistakes struct {
	errs []error
	more int
}

func (m *mistakes) add(cell compare.Cell, err error) {
	switch {
	case err == nil:
	case len(m.errs) == maxAhead:
		m.more++
	default:
		m.errs = append(m.errs, fmt.Errorf("the cell %v: %w", cell, err))
	}
}

func (m *mistakes) join() error {
	if m.more > 0 {
		m.errs = append(m.errs, fmt.Errorf("and %d cells more", m.more))
	}
	return errors.Join(m.errs...)
}
