package workloads

import (
	"context"
	"fmt"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// Jobs is the workload that has a schedule.
const Jobs = "jobs"

var jobs = Workload{
	Name: Jobs, About: "clients run the jobs of a schedule under the lock, or as the leader of an election, one slot after the other: does each run once?", Tokens: true, Resource: history.ResourcePlain,
}

// slots are those of a schedule: slot n of every key is due n slots after the load began. A client takes the lock, looks at the
// resource which slot was recorded last, and runs the next one if it is due: one job a hold, one slot after the other (rule J12).
type slots struct {
	plan      history.Plan
	execution history.ExecutionWords
	beganNS   int64            // of the load
	recorded  map[string]int64 // by key: the last slot that the client knows to be recorded
}

// newSlots are those of a plan; nil if it has no jobs.
func newSlots(plan history.Plan, beganNS int64) *slots {
	if !plan.Jobs() {
		return nil
	}
	execution, _ := history.ExecutionNamed(plan.Execution)
	return &slots{plan: plan, execution: execution, beganNS: beganNS, recorded: map[string]int64{}}
}

func (s *slots) dueNS(slot int64) int64 { return s.plan.DueNS(s.beganNS, slot) }

// longestIdle is for how long one that waits for a slot does not look at its client.
const longestIdle = time.Second

// awaitSlot waits until a slot is due that the client does not know to be recorded: nothing else is worth asking for the lock. It
// reports false if the load, the run or the client ended before.
func (t *Turns) awaitSlot(ctx context.Context, key string) bool {
	due := t.slots.dueNS(t.slots.recorded[key] + 1)
	for t.Loading() && !t.Gone() {
		left := time.Duration(due - t.Now())
		if left <= 0 {
			return true
		}
		if !t.Pause(ctx, min(left, longestIdle)) {
			return false
		}
		t.ReleaseOrphans(ctx) // which keeps the lock from others
	}
	return false
}

// job runs the next slot of a key under a hold that has read the resource, if it is due.
func (t *Turns) job(ctx context.Context, hold, key string, read driver.Completion, work time.Duration) {
	s := t.slots
	last, ok := history.RecordedSlot(read.Report.Value)
	if !ok { // no client wrote it: the checker says so of the resource
		return
	}
	s.recorded[key] = last
	slot := last + 1
	if s.dueNS(slot) > t.Now() {
		return
	}
	before := work // that the client does before it writes; the rest the harness lets the hold last
	if s.execution.MarksFirst {
		before = 0
	}
	op := t.NextOp()
	write := client.Command{
		Cmd: client.CmdWrite, Op: op, Hold: hold, Key: key, Value: history.JobRecord(slot, fmt.Sprintf("%s.%d", hold, op)), Base: read.Report.Value,
		WorkMS: before.Milliseconds(), AfterMS: (work - before).Milliseconds(), Guard: history.Guard(t.plan.Guard),
	}
	if s.execution.Keyed {
		write.IdempotencyKey = history.IdempotencyKey(slot)
	}
	record := t.Do(ctx, write)
	if record.Type == history.OK {
		s.recorded[key] = slot
		t.Pause(ctx, work-before)
	}
}
