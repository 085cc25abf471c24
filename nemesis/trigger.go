package nemesis

import (
	"slices"

	"lockcheck/checker/history"
)

// Trigger is what a fault waits for: a time drawn from the seed, or something that happens to a lock.
type Trigger string

// The triggers.
const (
	AtIntervals Trigger = "interval"
	AtGrant     Trigger = "acquire" // a client was granted a lock
	AtWork      Trigger = "work"    // a holder works; the fault comes a part of its work later, as the seed says
	AtWorkEnd   Trigger = "worked"  // a holder's work is done, its write is about to be sent
	AtRelease   Trigger = "release" // a holder is about to release
	// AtRemoving: a client that releases has looked whose the lock is, and is about to delete it.
	AtRemoving Trigger = "removing"
	AtQueueing Trigger = "queue"  // a client's request waits behind another's
	AtLoss     Trigger = "lost"   // a client was told that its lock is gone
	AtLeader   Trigger = "leader" // the service has another leader
)

// triggers is the table of triggers, in the order in which they are listed.
var triggers = []struct {
	name  Trigger
	about string
}{
	{AtIntervals, "at times drawn from the seed"},
	{AtGrant, "when a client was granted a lock"},
	{AtWork, "while a holder works, before it writes"},
	{AtWorkEnd, "when a holder's work is done and its write is about to be sent"},
	{AtRelease, "just before a holder releases"},
	{AtRemoving, "in a release of two steps, when the client has looked whose the lock is and is about to delete it"},
	{AtQueueing, "when a client begins to wait behind another"},
	{AtLoss, "when a client is told that its lock is lost"},
	{AtLeader, "when the service's leader changed"},
}

func triggerNamed(name string) (Trigger, error) {
	var names []string
	for _, t := range triggers {
		names = append(names, "@"+string(t.name))
	}
	if !slices.Contains(names, "@"+name) {
		return "", history.Unknown("trigger", "@"+name, names)
	}
	return Trigger(name), nil
}

// Word is a word of the grammar.
type Word struct{ Name, About string }

// Triggers lists the triggers.
func Triggers() (all []Word) {
	for _, t := range triggers {
		all = append(all, Word{"@" + string(t.name), t.about})
	}
	return all
}

// Targets lists the targets.
func Targets() (all []Word) {
	for _, name := range roleNames() {
		all = append(all, Word{name, roles[name].about})
	}
	return all
}
