// Package workloads says what lock clients do in a run. Package run, below it, makes them do it.
package workloads

import (
	"context"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// Workload is what clients do under the lock, and to what resource.
type Workload struct {
	Name  string
	About string
	// Tokens says that requests to the resource carry the tokens of their grants, for one that compares them.
	Tokens bool
	// Resource is the one that they go to where no other is named.
	Resource history.Resource
}

// All are the workloads there are.
var All = []Workload{lock, fencing, jobs}

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

// Client is a lock client in the hands of a workload. Package run records what it does, and lets faults come in between.
type Client interface {
	// Do sends an operation and returns how it ended. Op is given if absent.
	Do(ctx context.Context, command client.Command) driver.Completion
	// NextOp is the number of an operation of which something else is named.
	NextOp() int64
	// Release gives a lock back, and AboutToRelease lets a fault come before that.
	Release(ctx context.Context, hold, key string)
	AboutToRelease(ctx context.Context, hold, key string)
	// ReleaseOrphans gives back grants that came after their acquire had been given up.
	ReleaseOrphans(ctx context.Context)
	// Holds reports whether the client believes that it holds a lock, and Gone whether it has ended.
	Holds() bool
	Gone() bool
	// Loading reports whether the load still lasts, and Now what time it is in the run.
	Loading() bool
	Now() int64
	// Pause waits, at most until the load is over. It reports false if the run is.
	Pause(ctx context.Context, d time.Duration) bool
	// MayAsk waits until the service may be asked for one more lock. It reports false if the load or the run ended before.
	MayAsk(ctx context.Context) bool
	// Lasts is how long a hold lasts that was just granted, of one that is to last for work at least.
	Lasts(key string, work time.Duration) time.Duration
}
