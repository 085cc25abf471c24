package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// menuOf is what such a run can have of faults.
func menuOf(ctx context.Context, f *runFlags) (menu nemesis.Menu, err error) {
	calm := *f
	calm.Nemesis = history.NoNemesis
	if err := calm.Check(); err != nil {
		return menu, err
	}
	prepared, err := harness.Prepare(calm.Options)
	if err != nil {
		return menu, err
	}
	lacking := lackingFaults(ctx, calm.Where, calm.Software(prepared.Backend))
	layout := prepared.Layout
	menu = nemesis.Menu{
		Conditions: calm.Conditions(prepared),
		Takes: func(spec nemesis.Spec) bool {
			if slices.ContainsFunc(spec, func(mix []nemesis.Fault) bool {
				return slices.ContainsFunc(mix, func(fault nemesis.Fault) bool { return lacking[fault.Kind] })
			}) {
				return false
			}
			options := calm.Options
			options.Nemesis = spec.String()
			_, err := harness.Prepare(options)
			return err == nil
		},
	}
	for _, length := range []time.Duration{layout.EffectiveTTL, layout.LockDelay, layout.Election, layout.Grace} {
		if length > 0 {
			menu.Constants = append(menu.Constants, length)
		}
	}
	return menu, nil
}

// lackingFaults are the kinds of faults that this machine cannot make, as lockcheck doctor finds them. Runs elsewhere find out by themselves.
func lackingFaults(ctx context.Context, at harness.Where, software clusters.Software) map[string]bool {
	chosen, _, err := harness.Choose(ctx, at, software)
	if err != nil || chosen.Name != harness.Local {
		return nil
	}
	abilities, err := local.Abilities(ctx)
	if err != nil { // each run will say more
		return nil
	}
	return lackingOf(abilities)
}

func lackingOf(abilities []local.Ability) map[string]bool {
	lacking := map[string]bool{}
	for _, ability := range abilities {
		if ability.Missing == "" {
			continue
		}
		for _, fault := range history.Faults() {
			if slices.Contains(fault.Machine, ability.Name) || fault.OwnNetwork && ability.Name == local.AbilityNamespaces {
				lacking[string(fault.Name)] = true
			}
		}
	}
	return lacking
}

// lockClientOf is the name of the lock client that such a run has: the backend's first, if none is named.
func lockClientOf(backend, client string) string {
	for _, b := range harness.Backends {
		if b.Name() == backend && client == "" && len(b.Clients()) > 0 {
			return b.Clients()[0].Name
		}
	}
	return client
}

// likeInGallery is a scenario of the gallery in which the same lock client violates the same property, by the same kind of cause where the
// scenario names one; "" if there is none. Whether it is the same failure is for people to say: versions may differ.
func (f *huntFlags) likeInGallery(find hunt.Find) string {
	all, err := scenarios.All(known())
	if err != nil {
		return ""
	}
	for _, s := range all {
		breaks := slices.ContainsFunc(s.Failure.Expect, func(e config.Expected) bool {
			return e.Property == find.Property && slices.Contains(e.Verdicts, model.Violation) && cmp.Or(e.Cause, find.Cause) == find.Cause
		})
		client := lockClientOf(s.Failure.Backend(), clientOf(s.Failure.Flags))
		if breaks && s.Failure.Backend() == f.run.Backend && client == lockClientOf(f.run.Backend, f.run.Client) && s.Failure.Library == "" {
			return s.Name
		}
	}
	return ""
}

func clientOf(flags []compare.Flag) string {
	for _, flag := range flags {
		if flag.Name == "client" {
			return flag.Value
		}
	}
	return ""
}
