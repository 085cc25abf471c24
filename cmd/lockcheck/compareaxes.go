package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/workloads"
)

// axisFlag is the flag of an axis of the matrix: what it was given, and how it speaks of that.
type axisFlag struct {
	compare.Axis
	asked         *[]string
	single, many  string // "lease", "leases"
	example, help string
	// same is equal for values that mean the same.
	same func(value string) string
}

func (f *compareFlags) axes() []axisFlag {
	named := map[string]axisFlag{
		"resource": {asked: &f.resources, single: "resource", many: "resources", example: "plain,fenced,cas",
			help: "resources to compare: %s (default: that of --resource alone)",
			same: func(value string) string { return value }},
		"ttl": {asked: &f.ttls, single: "lease", many: "leases", example: "1s,2s,5s",
			help: "leases to compare: %s (default: that of --ttl alone)", same: sameLength},
		clusters.FlagVersion: {asked: &f.versions, single: "version", many: "versions", example: "3.4,3.7",
			help: "versions of the servers to compare: %s (default: that of --" + clusters.FlagVersion + " alone)",
			same: func(value string) string { return value }},
	}
	var all []axisFlag
	for _, a := range compare.Axes {
		flag := named[a.Flag]
		flag.Axis = a
		all = append(all, flag)
	}
	return all
}

// sameLength is equal for 2s and 2000ms.
func sameLength(value string) string {
	length, _ := time.ParseDuration(value) // the rule has read it
	return length.String()
}

func (f *compareFlags) bindAxes(flags *pflag.FlagSet) {
	for _, a := range f.axes() {
		flags.StringSliceVar(a.asked, a.Plural, nil, fmt.Sprintf(a.help, a.example)+"; with --file: only these of its "+a.Plural+", or these if it has none")
	}
}

// intoMatrix puts the axes into the matrix.
func (f *compareFlags) intoMatrix(spec *compare.Spec, given *pflag.FlagSet) error {
	for _, a := range f.axes() {
		if err := a.into(spec, given); err != nil {
			return err
		}
	}
	return senseless(*spec)
}

// into puts the axis into the matrix. Where that has several values, nothing else can set one: it would not be what the cell says.
func (a axisFlag) into(spec *compare.Spec, given *pflag.FlagSet) error {
	values := a.Of(spec)
	if err := a.check(*values, spec.File, given); err != nil {
		return err
	}
	if len(*a.asked) > 0 {
		*values = *a.asked
	}
	if len(*values) == 0 {
		return nil
	}
	seen := map[string]string{}
	for _, value := range *values {
		if before, twice := seen[a.same(value)]; twice {
			return fmt.Errorf("%s: %s and %s are the same %s", a.Plural, before, value, a.single)
		}
		seen[a.same(value)] = value
	}
	if given.Changed(a.Flag) {
		return fmt.Errorf("--%s sets one %s, and the matrix has several: leave out --%s, or the %s", a.Flag, a.single, a.Flag, a.Plural)
	}
	for _, b := range spec.Backends {
		if slices.ContainsFunc(b.Flags, func(flag compare.Flag) bool { return flag.Name == a.Flag }) {
			return fmt.Errorf("the backend %s has a %s of its own, and the matrix has several: leave out one of them", b.Name, a.Flag)
		}
	}
	return nil
}

// check is why what was asked for cannot be; has are the values of the file.
func (a axisFlag) check(has []string, file string, given *pflag.FlagSet) error {
	if given.Changed(a.Plural) && len(*a.asked) == 0 {
		return fmt.Errorf("--%s names nothing: leave it out, or name %s, such as %s", a.Plural, a.many, a.example)
	}
	flag, _ := harness.FlagNamed(a.Flag)
	for _, value := range *a.asked {
		if err := flag.Rule.Check("--"+a.Plural, value); err != nil {
			return err
		}
		if len(has) > 0 && !slices.Contains(has, value) {
			return fmt.Errorf("--%s: the matrix of %s has no %q; it has: %s", a.Plural, file, value, strings.Join(has, ", "))
		}
	}
	return nil
}

// senseless refuses cells whose resource would compare nothing of what it is named for, and those that would run another cell once
// more under a second name. A resource of which lockcheck does not know what it compares is neither.
func senseless(spec compare.Spec) error {
	made := map[compare.Cell]compare.Cell{}
	for _, cell := range spec.Cells() {
		kind, known := history.ResourceNamed(history.Resource(cell.Resource))
		workload, err := workloads.Named(cell.Workload)
		if cell.Resource == "" || !known || err != nil {
			continue
		}
		if kind.Compares == history.CompareTokens {
			if !workload.Tokens {
				return refusedCell(spec, cell, "resource", fmt.Sprintf("resource %s compares tokens, and workload %s shows it none, so that it would compare nothing: %sor leave %s out",
					cell.Resource, cell.Workload, showsTokens(workload), cell.Resource))
			}
			continue
		}
		run := cell
		run.Workload = workload.Work() // it shows tokens or none, and nothing looks at them
		if twin, twice := made[run]; twice {
			return refusedCell(spec, cell, "workload", fmt.Sprintf("it would be %v once more: workloads %s and %s differ in the tokens that they show, and %s compares none: name one of the two",
				twin, twin.Workload, cell.Workload, cell.Resource))
		}
		made[run] = cell
	}
	return nil
}

// showsTokens names a workload that does the same and shows tokens: "take workload fencing, ".
func showsTokens(w workloads.Workload) string {
	for _, other := range workloads.All {
		if other.Tokens && other.Work() == w.Work() {
			return "take workload " + other.Name + ", "
		}
	}
	return ""
}

// refusedCell is a cell that cannot be, at the place of the flag that makes it so.
func refusedCell(spec compare.Spec, cell compare.Cell, flag, why string) error {
	value := map[string]string{"resource": cell.Resource, "workload": cell.Workload}[flag]
	text := fmt.Sprintf("the cell %v: %s", cell, why)
	if at := spec.Places.Flag(cell, compare.Flag{Name: flag, Value: value}); at.Line > 0 {
		return &config.Error{File: spec.File, Line: at.Line, Column: at.Column, Text: text}
	}
	return errors.New(text)
}
