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
	AtRemoving Trigger = history.MomentRemoving
	// AtExpiring: a client that acquires has made its record, and is about to let it expire.
	AtExpiring Trigger = history.MomentExpiring
	AtQueueing Trigger = "queue"  // a client's request waits behind another's
	AtLoss     Trigger = "lost"   // a client was told that its lock is gone
	AtLeader   Trigger = "leader" // the service has another leader
)

// trigger is what there is to know of one.
type trigger struct {
	name  Trigger
	about string
	// stays: what it says may stay so for good, and no other such moment come.
	stays bool
}

// triggers is the table of triggers, in the order in which they are listed.
var triggers = []trigger{
	{name: AtIntervals, about: "at times drawn from the seed"},
	{name: AtGrant, about: "when a client was granted a lock", stays: true},
	{name: AtWork, about: "while a holder works, before it writes"},
	{name: AtWorkEnd, about: "when a holder's work is done and its write is about to be sent"},
	{name: AtRelease, about: "just before a holder releases"},
	{name: AtRemoving, about: "in a release of two steps, when the client has looked whose the lock is and is about to delete it"},
	{name: AtExpiring, about: "in an acquire of two steps, when the client has made its record and is about to let it expire"},
	{name: AtQueueing, about: "when a client begins to wait behind another", stays: true},
	{name: AtLoss, about: "when a client is told that its lock is lost"},
	{name: AtLeader, about: "when the service's leader changed", stays: true},
}

// stays reports whether what such a moment says may stay so for good.
func (t Trigger) stays() bool { return t.row().stays }

func (t Trigger) row() trigger {
	for _, one := range triggers {
		if one.name == t {
			return one
		}
	}
	return trigger{}
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
