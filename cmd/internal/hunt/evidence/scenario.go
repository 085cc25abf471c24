package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"lockcheck/reports/hunts"
)

// scenario is what of a file of the gallery is used here: the settings of the run that fails, and the violations that have to come.
type scenario struct {
	flags  map[string][]string
	causes map[string]string // by property; "" for any cause, if none of the scenario names one
}

// notOfScenario are the fields of a file that are no flags of a run, or that a hunt decides itself.
var notOfScenario = []string{"title", "reference", "teaches", "fixed-in", "measured", "contrast", "expect", "until", "time-limit", "nemesis", "library"}

func readScenarios(folder string) (map[string]scenario, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no scenarios: start scripts/hunts in a checkout", folder)
	}
	all := map[string]scenario{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var fields map[string]any
		if err := yaml.Unmarshal(text, &fields); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s := scenario{map[string][]string{}, map[string]string{}}
		if library, ok := fields["library"]; ok {
			fields["client"] = fmt.Sprint("./.cache/libraries/", library)
		}
		for name, value := range fields {
			switch pairs, ok := value.(map[string]any); {
			case name == "nemesis":
				s.flags[name] = []string{fmt.Sprint(value)}
			case slices.Contains(notOfScenario, name) || value == nil:
			case ok:
				for _, key := range slices.Sorted(maps.Keys(pairs)) {
					s.flags[name] = append(s.flags[name], fmt.Sprintf("%s=%v", key, pairs[key]))
				}
			default:
				s.flags[name] = []string{fmt.Sprint(value)}
			}
		}
		expects, _ := fields["expect"].(map[string]any)
		for property, value := range expects {
			switch of, ok := value.(map[string]any); {
			case ok && of["verdict"] == "violation":
				cause, _ := of["cause"].(string)
				s.causes[property] = cause
			case value == "violation":
				s.causes[property] = ""
			}
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(s.causes)), func(cause string) bool { return cause != "" }) {
			maps.DeleteFunc(s.causes, func(_, cause string) bool { return cause == "" }) // many other faults lead to these, too
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = s
	}
	return all, err
}

// args are the flags of these names; of all but the nemesis without names.
func (s scenario) args(names ...string) (args []string) {
	for _, name := range slices.Sorted(maps.Keys(s.flags)) {
		if slices.Contains(names, name) || len(names) == 0 && name != "nemesis" {
			for _, value := range s.flags[name] {
				args = append(args, "--"+name+"="+value)
			}
		}
	}
	return args
}

// steps are those of its nemesis.
func (s scenario) steps() int { return strings.Count(s.flags["nemesis"][0], ";") + 1 }

// shows reports whether a find is a violation that the scenario has, with its cause where it names one. Of a server or client that the scenario
// names by its number, the fault is compared alone.
func (s scenario) shows(f hunts.Find) bool {
	cause, ok := s.causes[string(f.Property)]
	if fault, _, numbered := strings.Cut(cause, " of "); numbered && strings.Contains(cause, "(") {
		return ok && strings.HasPrefix(f.Cause, fault+" of ")
	}
	return ok && (cause == "" || cause == f.Cause)
}
