// Package property judges a model: one file a property, each a method of Judge that comes to an Outcome. The table that names
// them is in package checker. The rules that comments cite by number are in checker/RULES.md.
package property

import (
	"fmt"
	"slices"
	"sync"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Judge holds a model sorted the ways the properties need it, and what they have found so far.
//
// A property goes over the acquires, grants or requests of a key in their order, and keeps of those it has passed only
// what something later can still go against: holds that last, acquires that wait, grants that are read late. That is
// memory for the clients, for operations of unknown outcome and for what is found, however long the history is; each
// algorithm's comment says what it drops, and why it may. One thing cannot be had so, and is made only where it is needed:
// the chains of a register whose updates do not follow one another, because an old value may be found again at any time
// (eachInTurn).
type Judge struct {
	m           *model.Model
	keys        []*model.Lock // in the order of their names
	maxFindings int
	unconfirmed bool      // Porcupine is left out
	lateOnce    sync.Once // several properties share them
	lateWrites  []LateWrite
	lastSession map[string]*model.Session // by client
	// unansweredFresh are, by client, the first acquires of two locks since the final phase began that were never answered.
	unansweredFresh map[string][]*model.Hold
	named           map[string][]*model.Hold // by session: the first two that name it
	watch           *Watch                   // nil unless the recording goes on
}

// New makes the judge of a model. Watch is nil unless the recording was to be judged as far as it goes.
func New(m *model.Model, maxFindings int, unconfirmed bool, watch *Watch) *Judge {
	j := &Judge{m: m, keys: m.Locks, maxFindings: maxFindings, unconfirmed: unconfirmed, watch: watch.of(m)}
	m.GoesOn = j.watch != nil
	return j
}

// Outcome is what one property came to before it is put into words.
type Outcome struct {
	Violations []Violation
	More       int64 // violations beyond those, of which nothing but their number is kept
	Windows    []model.Window
	// NotApplicable or inconclusive say in a sentence why there is no plain verdict; violations outweigh inconclusive.
	NotApplicable, Inconclusive string
	// Masked says in a sentence what kept all of the violations from the data.
	Masked      string
	ConfirmedBy string
	Unconfirmed string // why the independent judge did not get to its end
	Defect      error  // the independent judge disagrees
	// Untested says in a sentence what of the property a pass says nothing of.
	Untested string
}

// add takes one in.
func (o *Outcome) add(key string, atNS int64, incident string, finding func() model.Finding) {
	o.Violations = append(o.Violations, Violation{key, atNS, incident, finding})
}

// Violation is one violation. Its finding is only written if it is among those kept.
type Violation struct {
	Key  string
	AtNS int64
	// Incident names what led to it: the hold that was superseded or lost. Violations that share it are one incident.
	Incident string
	Finding  func() model.Finding
}

// Incidents counts the different incidents of violations.
func Incidents(lists ...[]Violation) int64 {
	seen := map[string]bool{}
	for _, violations := range lists {
		for _, v := range violations {
			seen[v.Incident] = true
		}
	}
	return int64(len(seen))
}

// incidentOn names the incident of what happened to a lock as a whole.
func incidentOn(k *model.Lock) string { return "lock " + k.Name }

// A property of which nothing happened that it could have judged does not pass (J9). Each of these says what was missing; "" if nothing was.

// some reports whether a lock has what a property needs.
func (j *Judge) some(has func(*model.Lock) bool) bool { return slices.ContainsFunc(j.keys, has) }

// used reports whether a lock of which the resource handled requests of two holds has what a property needs. What it rejected was tested, too.
func (j *Judge) used(enough func(writes, acknowledged, reads int) bool) bool {
	return j.some(func(k *model.Lock) bool {
		holds, writes, acknowledged, reads := 0, 0, 0, 0
		return slices.ContainsFunc(k.Acquires, func(h *model.Hold) bool {
			used := false
			for _, a := range h.Accesses {
				switch done := a.Handled != 0 || a.Applied; {
				case !done:
				case a.F == history.Read:
					used, reads = true, reads+1
				default:
					used, writes = true, writes+1
					if a.Outcome == history.OK {
						acknowledged++
					}
				}
			}
			if used {
				holds++
			}
			return holds > 1 && enough(writes, acknowledged, reads)
		})
	})
}

// porcupineName is how results name the independent judge.
const porcupineName = "porcupine"

// ErrDisagreement marks that the exact algorithms and Porcupine came to different answers about one history: a bug of
// lockcheck, with any history, so neither answer is a verdict. It also is an ErrDefect.
var ErrDisagreement = &disagreement{}

type disagreement struct{ what string }

func (d *disagreement) Error() string {
	return "a defect of lockcheck: its exact algorithm and Porcupine disagree: " + d.what
}

func (d *disagreement) Is(target error) bool {
	_, same := target.(*disagreement)
	return same || target == model.ErrDefect
}

func disagreementf(format string, args ...any) error {
	return &disagreement{fmt.Sprintf(format, args...)}
}
