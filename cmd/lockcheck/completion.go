package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/foreign/models"
	"lockcheck/checker/history"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/nemesis"
)

// completions say what the shell offers as the value of a flag, by the flag's name, in every command that has one. A flag that
// takes a file of any name needs none.
var completions = map[string]cobra.CompletionFunc{
	"backend":        oneOfMenu(func(m menu) []listed { return m.Backends }),
	"backends":       several(oneOfMenu(func(m menu) []listed { return m.Backends })),
	"client":         completeClient,
	"workload":       oneOfMenu(func(m menu) []listed { return m.Workloads }),
	"resources":      several(oneOfMenu(func(m menu) []listed { return m.Resources })),
	"workloads":      several(oneOfMenu(func(m menu) []listed { return m.Workloads })),
	"guard":          oneOfMenu(func(m menu) []listed { return m.Guards }),
	"execution":      oneOfMenu(func(m menu) []listed { return m.Executions }),
	"resource":       oneOfMenu(func(m menu) []listed { return m.Resources }),
	"provider":       oneOfMenu(func(m menu) []listed { return m.Providers }),
	"nemesis":        completeNemesis,
	"nemeses":        completeNemesis,
	"property":       several(completeProperty),
	"format":         fixed(strings.Split(knownFormats, ", ")...),
	"model":          fixed(strings.Split(models.Names(), ", ")...),
	"read-failed-as": fixed(string(history.Fail), string(history.Info)),
	"seed":           fixed(),
	"set":            fixed(),
	"image":          fixed(),
	"client-image":   fixed(),
	"client-arg":     fixed(),
	"shard":          fixed(),
	"file":           endings("yaml", "yml"),
	"out":            directories,
	"html":           directories,
	"replay":         directories,
	"plan":           endings("json"),
	"resume":         directories,
	"only-failed":    directories,
	"check":          directories,
	"until":          several(completeUntil),
}

// arguments of commands that take some.
var argumentCompletions = map[string]cobra.CompletionFunc{"check": completeRun, "merge": directories, "init": fixed(), "gallery": completeScenario}

// completeFlags has the shell offer values, in this command and those below it.
func completeFlags(cmd *cobra.Command) {
	for name, complete := range completions {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // fails for a flag that has one or does not exist
		}
	}
	for _, below := range cmd.Commands() {
		if complete, ok := argumentCompletions[below.Name()]; ok {
			below.ValidArgsFunction = complete
		} else if below.ValidArgsFunction == nil {
			below.ValidArgsFunction = fixed() // it takes flags only
		}
		completeFlags(below)
	}
}

// fixed offers these and no files.
func fixed(all ...cobra.Completion) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func oneOfMenu(of func(menu) []listed) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return described(of(everything())), cobra.ShellCompDirectiveNoFileComp
	}
}

func described(all []listed) (offered []cobra.Completion) {
	for _, l := range all {
		offered = append(offered, cobra.CompletionWithDesc(l.Name, l.About))
	}
	return offered
}

// several offers for the last of names that are joined by commas what is not among those before it.
func several(one cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := strings.LastIndexByte(typed, ',') + 1
		before := strings.Split(typed[:at], ",")
		offered, _ := one(cmd, args, typed[at:])
		var all []cobra.Completion
		for _, o := range offered {
			if name, _, _ := strings.Cut(o, "\t"); !slices.Contains(before, name) {
				all = append(all, typed[:at]+o)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeClient offers the clients of the backend that was chosen, or of all, and programs to a user who types a path.
func completeClient(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.HasPrefix(typed, ".") || strings.Contains(typed, "/") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	chosen := cmd.Flag("backend").Value.String()
	var offered []cobra.Completion
	for _, b := range everything().Backends {
		if chosen == "" || chosen == b.Name {
			offered = append(offered, described(b.Clients)...)
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completeNemesis goes on with what was typed of a spec; a space never follows, as a target or an option may.
func completeNemesis(_ *cobra.Command, _ []string, typed string) (offered []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, w := range nemesis.Complete(typed) {
		offered = append(offered, cobra.CompletionWithDesc(w.Name, w.About))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func completeProperty(*cobra.Command, []string, string) (offered []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, name := range checker.Names() {
		offered = append(offered, cobra.CompletionWithDesc(string(name), checker.Describe(name).Meaning))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

func completeUntil(*cobra.Command, []string, string) (offered []cobra.Completion, _ cobra.ShellCompDirective) {
	offered = append(offered, cobra.CompletionWithDesc(history.UntilViolation, "of any property"),
		cobra.CompletionWithDesc(history.UntilExposed, "all that the run requires has happened"))
	for _, name := range checker.FoundEarly() {
		offered = append(offered, cobra.CompletionWithDesc(string(name), checker.Describe(name).Meaning))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completeRun offers directories of runs, or files of another tool.
func completeRun(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case len(args) > 0:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case cmd.Flag("format").Value.String() != formatOurs:
		return nil, cobra.ShellCompDirectiveDefault
	}
	return directories(cmd, args, typed)
}

func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func endings(names ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return names, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeScenario offers the scenarios of the gallery that are not named yet.
func completeScenario(_ *cobra.Command, args []string, _ string) (offered []cobra.Completion, _ cobra.ShellCompDirective) {
	all, _ := scenarios.All(known())
	for _, s := range all {
		if !slices.Contains(args, s.Name) {
			offered = append(offered, cobra.CompletionWithDesc(s.Name, s.Title))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
