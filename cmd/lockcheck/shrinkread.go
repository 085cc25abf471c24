package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/nemesis"
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// read finds what there is to shrink. Nothing is started or written.
func (f *shrinkFlags) read(ctx context.Context, path string) (s shrinking, err error) {
	switch {
	case f.budget < time.Minute || f.budget > 30*24*time.Hour:
		return s, fmt.Errorf("--budget=%s: use 1m to 720h: a run takes some 20 s", f.budget)
	case f.jobs < 1 || f.jobs > maxJobs:
		return s, fmt.Errorf("--jobs=%d: use 1 to %d", f.jobs, maxJobs)
	case f.confirm < 1 || f.confirm > 1000:
		return s, fmt.Errorf("--confirm=%d: use 1 to 1000", f.confirm)
	}
	dir, err := rundir.Open(path)
	if err != nil {
		return s, err
	}
	j, err := harness.Judge(dir, checker.Options{})
	if err != nil {
		return s, err
	}
	s.plan = &j.Plan
	find, of, err := findAt(path)
	if err != nil {
		return s, err
	}
	if find && f.property == "" {
		f.property = string(of.Property)
	}
	if s.property, err = f.violated(j.Result); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if s.signature = of.Signature; !find || of.Property != s.property {
		if s.signature, err = signatureOf(path, s.property); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case s.plan.Nemesis == history.NoNemesis:
		return s, fmt.Errorf("%s had no faults: there is nothing to leave out", path)
	case len(s.plan.Command) < 2 || s.plan.Command[1] != "run":
		return s, fmt.Errorf("%s: its plan does not say which command made it", path)
	case s.plan.Attached != nil:
		return s, fmt.Errorf("%s ran at a service that others run, where shrink would make hundreds of runs: shrink one whose servers lockcheck started", path)
	case s.plan.PlanFile != "":
		return s, fmt.Errorf("%s was made from a plan file, whose schedule shrink does not change: make a run with --nemesis", path)
	}
	if s.run, err = settingsOf(s.plan, pflag.NewFlagSet("none", pflag.ContinueOnError)); err != nil {
		return s, fmt.Errorf("%s: the command in its plan: %w", path, err)
	}
	if s.spec, err = nemesis.Parse(s.plan.Nemesis); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	s.menu, err = menuOf(ctx, &s.run)
	return s, err
}

// findAt is the find that a hunt's link stands for; false if the path is none.
func findAt(path string) (bool, hunts.Find, error) {
	absolute, err := filepath.Abs(path)
	if err != nil || !hunts.IsLink(filepath.Base(absolute)) {
		return false, hunts.Find{}, nil
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(absolute), hunts.JSONFile)); err != nil {
		return false, hunts.Find{}, nil
	}
	r, err := hunts.Read(filepath.Dir(absolute))
	if err != nil {
		return false, hunts.Find{}, err
	}
	i := slices.IndexFunc(r.Finds, func(f hunts.Find) bool { return fmt.Sprint(f.N) == filepath.Base(absolute) })
	if i < 0 {
		return false, hunts.Find{}, fmt.Errorf("%s: the hunt has %s", path, history.Counted(int64(len(r.Finds)), "find", "finds"))
	}
	return true, r.Finds[i], nil
}

// signatureOf is the signature that most findings of a property have in a run; "" if none has a witness.
func signatureOf(dir string, property model.Name) (string, error) {
	found, err := hunt.FindsOf(dir, []model.Name{property})
	if err != nil || len(found) == 0 {
		return "", err
	}
	return slices.MaxFunc(found, func(a, b hunt.Find) int { return cmp.Compare(a.Times, b.Times) }).Signature, nil
}

// violated is the property whose violation is kept.
func (f *shrinkFlags) violated(r *model.Result) (model.Name, error) {
	var all []string
	for _, p := range words.InHarmsOrder(r) {
		if p.Verdict == model.Violation {
			all = append(all, string(p.Name))
		}
	}
	switch {
	case len(all) == 0:
		return "", fmt.Errorf("its verdict is %s: there is no violation to shrink", r.Verdict)
	case f.property == "":
		return model.Name(all[0]), nil
	case !slices.Contains(all, f.property):
		return "", fmt.Errorf("--property: %q is not violated%s; violated are %s", f.property, history.Meant("", f.property, all), strings.Join(all, ", "))
	}
	return model.Name(f.property), nil
}
