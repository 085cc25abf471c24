package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/workloads"
)

// defaultSlot and minSlot are of --slot. A slot is shorter than the work of some jobs already; one much shorter would only say more
// often that they are behind.
const (
	defaultSlot = 500 * time.Millisecond
	minSlot     = 50 * time.Millisecond
)

// schedule is that of the jobs of a run; zeros where its workload has none.
func (o *Options) schedule() (slotMS int64, execution history.Execution) {
	if o.Workload != workloads.Jobs {
		return 0, ""
	}
	return cmp.Or(o.Slot, defaultSlot).Milliseconds(), history.Execution(cmp.Or(o.Execution, history.ExecutionNames()[0]))
}

// checkSlot refuses a schedule of which fewer than two slots would be due.
func (o *Options) checkSlot() error {
	slotMS, _ := o.schedule()
	if slot := time.Duration(slotMS) * time.Millisecond; 2*slot >= o.TimeLimit {
		return fmt.Errorf("--slot=%v: within --time-limit=%v fewer than two slots would be due: use a shorter slot, or a longer time limit", slot, o.TimeLimit)
	}
	return nil
}

// checkKeys refuses idempotency keys of a resource that has none that lockcheck knows of.
func (o *Options) checkKeys() error {
	_, execution := o.schedule()
	if words, _ := history.ExecutionNamed(execution); words.Keyed && isTested(o.Resource) {
		return fmt.Errorf("--execution=%s: a resource under test (--resource=%s) is not told to take slots as idempotency keys: use one of %s, or another --execution",
			execution, o.Resource, strings.Join(history.OwnResourceNames(), ", "))
	}
	return nil
}

// checkUntil refuses to wait for what the resource or the workload rules out: it would never end the load.
func (o *Options) checkUntil() error {
	waits := func(name checker.Name) bool { return slices.Contains(UntilWords(o.Until), string(name)) }
	kind, _ := history.ResourceNamed(history.Resource(o.Resource))
	_, execution := o.schedule()
	words, _ := history.ExecutionNamed(execution)
	switch {
	case waits(checker.StaleWrite) && kind.Compares == history.CompareBases:
		return fmt.Errorf("--until=%s: with --resource=%s, %s does not apply, so it would never end the run; %s does",
			o.Until, o.Resource, checker.StaleWrite, checker.LostUpdate)
	case waits(checker.StaleWrite) && words.Keyed && kind.Compares == history.CompareNothing:
		return fmt.Errorf("--until=%s: with --execution=%s, %s does not apply, so it would never end the run; %s does",
			o.Until, execution, checker.StaleWrite, checker.DoubleExecution)
	case waits(checker.DoubleExecution) && o.Workload != workloads.Jobs:
		return fmt.Errorf("--until=%s: %s is of workload %s, so it would never end the run; add --workload=%s", o.Until, checker.DoubleExecution, workloads.Jobs, workloads.Jobs)
	}
	return nil
}
