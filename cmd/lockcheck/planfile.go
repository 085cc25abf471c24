package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/planfile"
)

// planned is the run that a plan file describes: the flags of its command, changed by those that were given beside, with its schedule.
// What is wrong with the file is found before anything is started.
func planned(path string, given *pflag.FlagSet) (runFlags, error) {
	f, err := plannedBy(path, given)
	if err != nil {
		return f, harness.Usage(err)
	}
	return f, nil
}

func plannedBy(path string, given *pflag.FlagSet) (f runFlags, err error) {
	switch wrong := notBesideReplay(given); {
	case given.Changed("replay"):
		return f, errors.New("--plan and --replay are two plans: leave one of them out")
	case len(wrong) > 0:
		return f, fmt.Errorf("--plan makes the run of a plan file: leave out %s, and change the file's command", strings.Join(wrong, ", "))
	}
	file, err := planfile.Read(path)
	if err != nil {
		var system *fs.PathError
		if errors.As(err, &system) {
			err = fmt.Errorf("--plan=%s: %w", path, system.Err)
		}
		return f, err
	}
	if f, err = settingsOf(&file.Plan, given); err != nil {
		return f, file.Mistake("command", err.Error())
	}
	drawn, err := preparedPlan(&f)
	if err != nil {
		return f, file.Mistake("command", err.Error())
	}
	if !file.Has("schedule") && len(drawn.Schedule) > 0 {
		return f, file.Mistake("schedule", "the plan has no schedule: start with what lockcheck plan --json prints")
	}
	f.PlanFile, f.Schedule = path, file.Plan.Schedule
	made, err := preparedPlan(&f)
	if err != nil {
		return f, file.Misplaced(err)
	}
	if wrong := file.Differences(made).With(file.Stale(made, drawn)...); len(wrong) > 0 {
		return f, wrong
	}
	return f, nil
}

// preparedPlan is the plan that follows from options. Nothing is started.
func preparedPlan(f *runFlags) (history.Plan, error) {
	if err := f.Check(); err != nil {
		return history.Plan{}, err
	}
	config, err := harness.Prepare(f.Options)
	return config.Plan, err
}
