package page

import (
	"slices"
	"strconv"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/reports/words"
)

type fact struct{ Name, Value, Note string }

// planFacts are what a reader has to know of the plan before anything else.
func planFacts(p history.Plan) []fact {
	note := ""
	if p.TTLMS != p.EffectiveMS {
		note = words.Milliseconds(p.TTLMS) + " asked for"
	}
	var facts []fact
	if phrase := words.Excerpt(p); phrase != "" {
		facts = append(facts, fact{"excerpt", p.Excerpt.Finding, phrase})
	}
	if phrase := words.EndedEarly(p); phrase != "" {
		facts = append(facts, fact{"until", strings.Join(p.Until, ", "), phrase})
	}
	return append(append(facts, []fact{
		{"backend", p.Backend, history.Counted(int64(p.Nodes), "server", "servers")},
		{"lock client", p.LockClient, history.Counted(int64(p.Clients), "process", "processes")},
		{"workload", p.Workload, ""},
		{"resource", string(p.ResourceKind().Name), words.ResourceNote(p)},
		{"nemesis", p.Nemesis, planNote(p)},
		{"guard", p.Guard, guardNote(p)},
		{"lease", words.Milliseconds(p.EffectiveMS), note},
		{"tokens", string(p.Tokens), p.TokensReason},
		{"provider", p.Provider, ""},
		{"seed", strconv.FormatInt(p.Seed, 10), ""},
		versionsFact(p),
	}...), slices.Concat(workFacts(p), jobFacts(p))...)
}

// workFacts say what else clients do than short work. A narrow page breaks its lines behind the commas.
func workFacts(p history.Plan) []fact {
	if p.Work == nil {
		return nil
	}
	return []fact{{"work", strings.ReplaceAll(p.Work.String(), ",", ", "), words.Beside(p)}}
}

// planNote says that the schedule was read from a file, which may have other faults than the nemesis.
func planNote(p history.Plan) string {
	if p.PlanFile == "" {
		return ""
	}
	return "exactly the schedule in " + words.Clip(p.PlanFile, words.MaxName)
}

// jobFacts are those of a run of jobs.
func jobFacts(p history.Plan) []fact {
	if !p.Jobs() {
		return nil
	}
	execution, _ := history.ExecutionNamed(p.Execution)
	return []fact{{"slot", words.Milliseconds(p.SlotMS), "from one job to the next"}, {"execution", string(p.Execution), execution.Note}}
}

// versionsFact names the servers' software, and beside it what else took part.
func versionsFact(p history.Plan) fact {
	others := []string{"client", "lockcheck", "go"}
	var servers, notes []string
	for _, name := range sortedKeys(p.Versions) {
		if !slices.Contains(others, name) {
			servers = append(servers, name+" "+words.Clip(p.Versions[name], 40))
		}
	}
	for _, name := range others {
		if version := words.Clip(p.Versions[name], 40); version != "" {
			notes = append(notes, name+" "+version)
		}
	}
	if len(servers) == 0 {
		servers, notes = notes, nil
	}
	return fact{"versions", strings.Join(servers, ", "), strings.Join(notes, ", ")}
}

// guardNote says what the guard of a plan has clients do; "" of one that this version of lockcheck does not know.
func guardNote(p history.Plan) string {
	guard, _ := history.GuardNamed(history.Guard(p.Guard))
	return guard.Note
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
