package history

import (
	"slices"
	"strconv"
	"strings"
)

// A run of jobs has a schedule: slot n (from 1) of every key is due n slots after the load began. The resource says of a key which
// of its slots was recorded last (rule J12 in checker/RULES.md).

// Execution says when a job's slot is recorded as run, and what the resource does with a second record of it.
type Execution string

// The executions.
const (
	AtLeastOnce Execution = "at-least-once"
	AtMostOnce  Execution = "at-most-once"
	Idempotent  Execution = "idempotent"
)

// IdempotencyKeys is what the means of a keyed resource is called.
const IdempotencyKeys = "idempotency keys"

// ExecutionWords is one execution and how it is spoken of, everywhere: in the help, in stories, in the report.
type ExecutionWords struct {
	Name Execution
	// About is what a client does: "works, then records that the slot was run".
	About string
	// Note is what all clients of a run do.
	Note string
	// MarksFirst: the slot is recorded before the work.
	MarksFirst bool
	// Once, Again and Twice are what the records of a slot say in stories: "slot 7 has been run".
	Once, Again, Twice string
	// Keyed: the resource takes the slot of a record as its idempotency key.
	Keyed bool
}

// Executions is the table of executions. The first is the default.
var Executions = []ExecutionWords{
	{
		Name: AtLeastOnce, About: "works, then records the slot: a client that dies in between leaves the job to be run again",
		Note: "clients record a slot after its work",
		Once: "has been run", Again: "has been run a second time", Twice: "was run twice",
	},
	{
		Name: AtMostOnce, About: "records the slot, then works: a client that dies in between leaves the job undone",
		Note: "clients record a slot before its work", MarksFirst: true,
		Once: "is marked, and is run from here on", Again: "is marked a second time, and run once more", Twice: "was marked twice to be run",
	},
	{
		Name: Idempotent, About: "works, then records the slot, which the resource takes as an idempotency key: a second record is answered as the first was",
		Note: "clients record a slot after its work; a second record of it does nothing", Keyed: true,
		Once: "has been run", Again: "has been run a second time", Twice: "was run twice",
	},
}

// ExecutionNamed finds an execution. One that is not in the table has a name and no words.
func ExecutionNamed(name Execution) (words ExecutionWords, known bool) {
	if i := slices.IndexFunc(Executions, func(e ExecutionWords) bool { return e.Name == name }); i >= 0 {
		return Executions[i], true
	}
	return ExecutionWords{Name: name}, false
}

// ExecutionNames lists the executions.
func ExecutionNames() []string {
	names := make([]string, len(Executions))
	for i, e := range Executions {
		names[i] = string(e.Name)
	}
	return names
}

// JobRecord is the value that records a slot, from 1, of a key: "7/h12.34". What follows the slot makes it unique.
func JobRecord(slot int64, unique string) string { return strconv.FormatInt(slot, 10) + "/" + unique }

// RecordedSlot is the slot that a value of the resource records: 0 for the initial value. It reports false for what is no record.
func RecordedSlot(value string) (slot int64, ok bool) {
	if value == "" {
		return 0, true
	}
	digits, unique, found := strings.Cut(value, "/")
	slot, err := strconv.ParseInt(digits, 10, 64)
	return slot, found && unique != "" && err == nil && slot > 0 && strconv.FormatInt(slot, 10) == digits
}

// IdempotencyKey is the idempotency key of a slot's record. Each key of the resource has such keys of its own.
func IdempotencyKey(slot int64) string { return strconv.FormatInt(slot, 10) }

// Jobs reports whether the run had a schedule of jobs.
func (p *Plan) Jobs() bool { return p.SlotMS > 0 }

// Keyed reports whether the resource of the run takes the slot of a record as its idempotency key.
func (p *Plan) Keyed() bool {
	execution, _ := ExecutionNamed(p.Execution)
	return execution.Keyed
}

// DueNS is when a slot is due, in a load that began at a moment. One that no run reaches is due at MaxNS.
func (p *Plan) DueNS(loadNS, slot int64) int64 {
	if slot > (MaxNS-loadNS)/(p.SlotMS*1e6) {
		return MaxNS
	}
	return loadNS + slot*p.SlotMS*1e6
}

// SlotsDue is how many slots of a key were due before a moment of a load that began at another.
func (p *Plan) SlotsDue(loadNS, ns int64) int64 { return max(ns-loadNS-1, 0) / (p.SlotMS * 1e6) }

// validateJobs refuses half of a schedule.
func (p *Plan) validateJobs() error {
	_, known := ExecutionNamed(p.Execution)
	switch {
	case p.SlotMS == 0 && p.Execution == "" && p.Workload != "jobs":
		return nil
	case p.SlotMS < 1 || p.SlotMS > maxPlanMS:
		return mistakef("the plan's slot_ms is %d, with execution %q: a schedule of jobs has both, and a slot lasts 1 to %d ms", p.SlotMS, p.Execution, int64(maxPlanMS))
	case p.Workload != "" && p.Workload != "jobs":
		return mistakef("the plan's slot_ms is %d, and its workload %s, which has no schedule of jobs", p.SlotMS, p.Workload)
	case !known:
		return mistakef("the plan's execution is %q; known are %s", p.Execution, list(ExecutionNames()))
	case p.Keyed() && p.UnderTest != nil && p.UnderTest.Compares != "" && !p.UnderTest.IdempotencyKeys:
		return mistakef("the plan's execution is %s, and its resource under test does not say that it takes idempotency keys", p.Execution)
	}
	return nil
}
