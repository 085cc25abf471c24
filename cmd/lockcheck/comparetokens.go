package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/workloads"
)

// noTokensNote says that a run tests fencing with a lock client that gives no tokens, and which clients of that backend give some;
// "" where it is not so, where none does, or where the client is a program of the user's, of which nothing is known yet.
func noTokensNote(flags []compare.Flag) string {
	value := map[string]string{}
	for _, f := range flags {
		value[f.Name] = f.Value
	}
	workload, err := workloads.Named(value["workload"])
	at := slices.IndexFunc(harness.Backends, func(b clusters.Described) bool { return b.Name() == value["backend"] })
	if err != nil || at < 0 {
		return ""
	}
	kind, _ := history.ResourceNamed(cmp.Or(history.Resource(value["resource"]), workload.Resource))
	if !workload.Tokens || kind.Compares != history.CompareTokens {
		return ""
	}
	clients := harness.Backends[at].Clients()
	chosen := slices.IndexFunc(clients, func(c clusters.LockClient) bool { return c.Name == value["client"] })
	if value["client"] == "" {
		chosen = 0
	}
	if chosen < 0 || clients[chosen].NoTokens == "" {
		return ""
	}
	var have []string
	for _, c := range clients {
		if c.NoTokens == "" {
			have = append(have, c.Name)
		}
	}
	if len(have) == 0 {
		return ""
	}
	verb := map[bool]string{true: "has", false: "have"}[len(have) == 1]
	return fmt.Sprintf("%s gives no tokens: fencing rejects nothing; %s %s them", clients[chosen].Name, strings.Join(have, ", "), verb)
}

// noTokensNotes are those of the cells that are still to be run, each once with the first cell that it is of.
func noTokensNotes(tasks []compare.Task) (notes []string) {
	said := map[string]bool{}
	for _, task := range tasks {
		note := noTokensNote(task.Flags)
		if key := task.Backend + note; task.Missing() > 0 && note != "" && !said[key] {
			said[key] = true
			notes = append(notes, fmt.Sprintf("%s, workload %s: %s", task.Backend, task.Workload, note))
		}
	}
	return notes
}
