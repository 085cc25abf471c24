package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/harness"
	"lockcheck/reports"
)

// besideReplay are the flags that may stand beside --replay: they say where a run is made and how it is shown.
var besideReplay = []string{"replay", "out", "json", "quiet", "open", "provider", "image", "server-bin", "server-jar"}

// replayed is the run that a run directory's plan describes: its flags, changed by those that were given beside, with the
// steps of its nemesis.
func replayed(path string, given *pflag.FlagSet) (f runFlags, err error) {
	var wrong []string
	given.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(besideReplay, flag.Name) {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	if len(wrong) > 0 {
		return f, harness.Usage(fmt.Errorf("--replay makes the same run again: leave out %s", strings.Join(wrong, ", ")))
	}
	plan, err := planOf(path)
	if err != nil {
		return f, harness.Usage(fmt.Errorf("--replay=%s: %w", path, err))
	}
	if len(plan.Command) < 2 || plan.Command[1] != "run" {
		return f, harness.Usage(fmt.Errorf("--replay=%s: its plan does not say which command made it", path))
	}
	flags := pflag.NewFlagSet("replay", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse(plan.Command[2:]); err != nil {
		return f, harness.Usage(fmt.Errorf("--replay=%s: the command in its plan: %w", path, err))
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
	f.Steps = append([]string{}, plan.Steps...) // none is a schedule, too
	return f, errors.Join(errs...)
}

func planOf(path string) (*history.Plan, error) {
	dir, err := reports.Open(path)
	if err != nil {
		return nil, err
	}
	plan, err := dir.ReadPlan()
	return &plan, err
}
