package reports

import (
	"slices"
	"strconv"
	"strings"

	"lockcheck/checker/history"
)

type fact struct{ Name, Value, Note string }

// planFacts are what a reader has to know of the plan before anything else.
func planFacts(p history.Plan) []fact {
	note := ""
	if p.TTLMS != p.EffectiveMS {
		note = spanMS(p.TTLMS) + " asked for"
	}
	var facts []fact
	if words := excerptWords(p); words != "" {
		facts = append(facts, fact{"excerpt", p.Excerpt.Finding, words})
	}
	return append(facts, []fact{
		{"backend", p.Backend, plural(int64(p.Nodes), "server", "servers")},
		{"lock client", p.LockClient, plural(int64(p.Clients), "process", "processes")},
		{"workload", p.Workload, map[bool]string{true: "the storage compares tokens", false: "the storage takes every write"}[p.Fenced]},
		{"nemesis", p.Nemesis, ""},
		{"guard", p.Guard, guardNotes[p.Guard]},
		{"lease", spanMS(p.EffectiveMS), note},
		{"tokens", string(p.Tokens), p.TokensReason},
		{"provider", p.Provider, ""},
		{"seed", strconv.FormatInt(p.Seed, 10), ""},
		versionsFact(p),
	}...)
}

// versionsFact names the servers' software, and beside it what else took part.
func versionsFact(p history.Plan) fact {
	others := []string{"client", "lockcheck", "go"}
	var servers, notes []string
	for _, name := range sortedKeys(p.Versions) {
		if !slices.Contains(others, name) {
			servers = append(servers, name+" "+clip(p.Versions[name], 40))
		}
	}
	for _, name := range others {
		if version := clip(p.Versions[name], 40); version != "" {
			notes = append(notes, name+" "+version)
		}
	}
	if len(servers) == 0 {
		servers, notes = notes, nil
	}
	return fact{"versions", strings.Join(servers, ", "), strings.Join(notes, ", ")}
}

var guardNotes = map[string]string{
	"none":         "clients never look at their lock again",
	"before-work":  "clients look at their lock once, then work, then write",
	"before-write": "clients look at their lock again just before they write",
}

func sortedFacts(m map[string]string) []fact {
	var facts []fact
	for _, name := range sortedKeys(m) {
		facts = append(facts, fact{Name: name, Value: m[name]})
	}
	return facts
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
