package workloads

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// schedule is that of a run of jobs: slot n of every key is due n slots after the load began. Clients take the lock, look at the
// resource which slot was recorded last, and run the next one if it is due: one job a hold, one slot after the other (rule J12).
type schedule struct {
	plan      history.Plan
	execution history.ExecutionWords
	loadNS    atomic.Int64 // when the load began; 0 before
}

// newSchedule is that of a plan; nil if it has no jobs.
func newSchedule(plan history.Plan) *schedule {
	if !plan.Jobs() {
		return nil
	}
	execution, _ := history.ExecutionNamed(plan.Execution)
	return &schedule{plan: plan, execution: execution}
}

func (s *schedule) dueNS(slot int64) int64 { return s.plan.DueNS(s.loadNS.Load(), slot) }

// longestIdle is for how long a worker that waits for a slot does not look at its client.
const longestIdle = time.Second

// awaitSlot waits until a slot is due that the worker does not know to be recorded: nothing else is worth asking for the lock. It
// reports false if the load, the run or the client ended before.
func (w *worker) awaitSlot(ctx context.Context, key string) bool {
	due := w.run.schedule.dueNS(w.recorded[key] + 1)
	for w.run.loading() && w.client.driver.Err() == nil {
		left := time.Duration(due - w.run.recorder.Now())
		if left <= 0 {
			return true
		}
		if !w.pause(ctx, min(left, longestIdle)) {
			return false
		}
		w.releaseOrphans(ctx) // which keeps the lock from others
	}
	return false
}

// job runs the next slot of a key under a hold that has read the resource, if it is due.
func (w *worker) job(ctx context.Context, hold, key string, read driver.Completion, work time.Duration) {
	s := w.run.schedule
	last, ok := history.RecordedSlot(read.Report.Value)
	if !ok { // no client wrote it: the checker says so of the resource
		return
	}
	w.recorded[key] = last
	slot := last + 1
	if s.dueNS(slot) > w.run.recorder.Now() {
		return
	}
	before := work // that the client does before it writes; the rest the harness lets the hold last
	if s.execution.MarksFirst {
		before = 0
	}
	op := w.run.ops.Add(1)
	write := client.Command{
		Cmd: client.CmdWrite, Op: op, Hold: hold, Key: key, Value: history.JobRecord(slot, fmt.Sprintf("%s.%d", hold, op)), Base: read.Report.Value,
		WorkMS: before.Milliseconds(), AfterMS: (work - before).Milliseconds(), Guard: history.Guard(w.run.plan.Guard),
	}
	if s.execution.Keyed {
		write.IdempotencyKey = history.IdempotencyKey(slot)
	}
	record := w.do(ctx, write)
	if record.Type == history.OK {
		w.recorded[key] = slot
		w.pause(ctx, work-before)
	}
}
