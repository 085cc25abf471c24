package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
	"lockcheck/workloads"
)

// showing are the flags that say how a run is shown, which is no part of it, and those that name the plan.
var showing = []string{"replay", "plan", "json", "quiet", "open"}

// besideReplay reports whether a flag may stand beside --replay and --plan.
func besideReplay(name string) bool {
	flag, ofRun := harness.FlagNamed(name)
	return ofRun && flag.Has(harness.BesideReplay) || slices.Contains(showing, name)
}

// replayed is the run that a run directory's plan describes: its flags, changed by those that were given beside, with the
// steps of its nemesis.
func replayed(path string, given *pflag.FlagSet) (f runFlags, err error) {
	if wrong := notBesideReplay(given); len(wrong) > 0 {
		return f, harness.Usage(fmt.Errorf("--replay makes the same run again: leave out %s", strings.Join(wrong, ", ")))
	}
	plan, err := planOf(path)
	if err != nil {
		return f, harness.Usage(fmt.Errorf("--replay=%s: %w", path, err))
	}
	if len(plan.Command) < 2 || plan.Command[1] != "run" {
		return f, harness.Usage(fmt.Errorf("--replay=%s: its plan does not say which command made it", path))
	}
	if f, err = settingsOf(plan, given); err != nil {
		return f, harness.Usage(fmt.Errorf("--replay=%s: the command in its plan: %w", path, err))
	}
	f.Steps = append([]string{}, plan.Steps...) // none is a schedule, too
	f.PlanFile, f.Schedule = plan.PlanFile, plan.Schedule
	return f, nil
}

// notBesideReplay are the flags that were given and would change what a plan says.
func notBesideReplay(given *pflag.FlagSet) (wrong []string) {
	given.Visit(func(flag *pflag.Flag) {
		if !besideReplay(flag.Name) {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	return wrong
}

// settingsOf is what the command of a plan asks for, changed by the flags that were given beside.
func settingsOf(plan *history.Plan, given *pflag.FlagSet) (f runFlags, err error) {
	flags := pflag.NewFlagSet("replay", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse(plan.Command[2:]); err != nil {
		return f, err
	}
	if !flags.Changed("work") && f.Workload != workloads.Jobs { // recorded before there was a choice
		f.Work = plan.Works().String()
	}
	var errs []error
	if given.Changed("provider") {
		// Made again elsewhere, a run leaves out what only the first place understood.
		for _, name := range harness.PlacesUnknownTo(given.Lookup("provider").Value.String()) {
			if !given.Changed(name) {
				errs = append(errs, flags.Set(name, ""))
			}
		}
	}
	given.Visit(func(flag *pflag.Flag) {
		if flags.Lookup(flag.Name) != nil { // not --replay itself, nor --open
			errs = append(errs, flags.Set(flag.Name, flag.Value.String()))
		}
	})
	return f, errors.Join(errs...)
}

func planOf(path string) (*history.Plan, error) {
	dir, err := rundir.Open(path)
	if err != nil {
		return nil, err
	}
	plan, err := dir.ReadPlan()
	return &plan, err
}
