// Package nemesis disturbs a run: it injects faults and takes them back, aimed at the holders of locks. Each fault is
// one file. A nemesis is drawn whole from the seed before the run starts; what it meets while it runs decides only
// when its steps fire and whom a role ("holder") means at that moment.
//
//	seed ──► Nemesis (Steps) ──► Run ── asks ──► Stage: who works under a lock now?
//	                              │
//	                              └── invoke ─ inject ─ read back ─ ok ─ … ─ invoke ─ heal ─ read back ─ ok ──► history
package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// Nemesis is a schedule of faults.
type Nemesis interface {
	// Requirements lists what must have happened for the run to have tested anything (rule J9).
	Requirements() []history.Requirement
	// Steps says the schedule in words, a line a step.
	Steps() []string
	// Run plays the schedule until ctx is done, and returns once everything is taken back and was seen to be. The error
	// names a fault that could not be healed.
	Run(ctx context.Context, stage Stage) error
}

// Plan is what a schedule is drawn from.
type Plan struct {
	Seed  int64
	TTL   time.Duration // the lease as the servers grant it; magnitudes scale with it
	Limit time.Duration // how long the load lasts
}

// Target is a process that faults can hit. What it can suffer is found by type assertion.
type Target interface {
	Name() string
}

// Pauser is a target that can be stopped as SIGSTOP does. Both calls return once the effect was read back.
type Pauser interface {
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
}

// Worker is somebody working under a lock.
type Worker struct {
	Client    string
	Hold, Key string
	Work      time.Duration // how long its work takes in all
}

// Stage is what a nemesis sees of a run.
type Stage interface {
	// NextWorker waits until a client begins to work under a lock.
	NextWorker(ctx context.Context) (Worker, error)
	// StillWorking tells whether that work is still going on.
	StillWorking(w Worker) bool
	// Client is a client by its name, nil if it is gone.
	Client(name string) Target
	// Clients are the live clients, in the order of their names.
	Clients() []Target
	// Nodes are the servers, in their order.
	Nodes() []Target
	// Hold is what a client is believed to hold now.
	Hold(client string) (hold, key string, ok bool)
	// Record appends an event to the history and returns its stamp.
	Record(event history.Event) int64
	// NextOp numbers a fault.
	NextOp() int64
}

// Kind describes one nemesis that can be asked for.
type Kind struct {
	Name  string
	About string
	// NeedsNetwork says that its faults need hosts with networks of their own.
	NeedsNetwork bool
	draw         func(Plan) Nemesis
}

// Kinds are the nemeses there are, in the order in which they are listed.
var Kinds = []Kind{none, pause}

// New draws the schedule of the nemesis named by spec.
func New(spec string, plan Plan) (Nemesis, error) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == spec })
	if i < 0 {
		return nil, fmt.Errorf("there is no nemesis %q; there are: %s", spec, strings.Join(Names(), ", "))
	}
	return Kinds[i].draw(plan), nil
}

// NeedsNetwork tells whether the nemesis named by spec needs hosts with networks of their own.
func NeedsNetwork(spec string) bool {
	return slices.ContainsFunc(Kinds, func(k Kind) bool { return k.Name == spec && k.NeedsNetwork })
}

// Names lists the nemeses.
func Names() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// random is the nemesis's own stream of the seed: workloads draw from others, so that adding a draw there changes no
// schedule here.
func random(seed int64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0x6e656d65736973)) }

// between draws a duration from [low, high).
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}

// sleep waits, or returns false when ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
