// Package workloads drives lock clients through a workload while a nemesis disturbs them, and records what happens.
//
//	Config ─► Run ─► site, cluster, resource, clients        (setup.go)
//	           ├─ load:  a worker a client                   (worker.go)   ┐
//	           │         the nemesis, with the run as Env    (faultenv.go) ├─► Recorder ─► history.jsonl
//	           │         watchdog, leader watch, pings       (watch.go)    │
//	           ├─ waiting: who waited then is granted it     (oldwaiters.go)
//	           └─ final: two fresh sessions a lock           (final.go)    ┘
//
// Rules cited by number (R4, J8) are in checker/RULES.md.
package workloads

import (
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// Workload is what clients do under the lock, and to what resource.
type Workload struct {
	Name  string
	About string
	// Tokens says that requests to the resource carry the tokens of their grants, for one that compares them.
	Tokens bool
	// Requires is what must have happened for a run to have tested anything, beside what its nemesis requires (rule J9).
	Requires []history.Requirement
	// Resource is the one that they go to where no other is named.
	Resource history.Resource
}

// Jobs is the workload that has a schedule.
const Jobs = "jobs"

// All are the workloads there are.
var All = []Workload{
	{Name: "lock", About: "holders read, work and write a plain resource: does the lock alone protect it?", Resource: history.ResourcePlain},
	{Name: "fencing", About: "the same on a resource that rejects tokens lower than the highest seen: does fencing?", Tokens: true, Resource: history.ResourceFenced},
	{
		Name: Jobs, About: "clients run the jobs of a schedule under the lock, or as the leader of an election, one slot after the other: does each run once?", Tokens: true, Resource: history.ResourcePlain,
		Requires: []history.Requirement{{Name: history.ExposureRecorders, Min: 2}, {Name: history.ExposureSlots, Min: 2}},
	},
}

// Work names what clients do, whatever they do it to: workloads of the same work differ in the tokens that they show, and in the
// resource that they have where none is named.
func (w Workload) Work() string {
	if w.Name == Jobs {
		return Jobs
	}
	return "holds"
}

// Named finds a workload.
func Named(name string) (Workload, error) {
	i := slices.IndexFunc(All, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		return Workload{}, history.Unknown("workload", name, Names())
	}
	return All[i], nil
}

// Names lists the workloads.
func Names() []string {
	var names []string
	for _, w := range All {
		names = append(names, w.Name)
	}
	return names
}

// DefaultResources says which resource each workload has where none is named: "plain for lock, fenced for fencing".
func DefaultResources() string {
	var words []string
	for _, w := range All {
		words = append(words, string(w.Resource)+" for "+w.Name)
	}
	return strings.Join(words, ", ")
}

// How long a client rests between two holds. The work is where faults are aimed at, so it is most of a hold; the rest is short, so
// that there is always a client that waits.
const shortestRest, longestRest = 1 * time.Millisecond, 40 * time.Millisecond

// pingEvery is the pace of pings (rule R2): what a client believes is known to this grain.
const pingEvery = 20 * time.Millisecond
