package harness

import (
	"cmp"
	"fmt"
	"slices"
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

// ofTheLog are the properties that only the resource's log shows.
var ofTheLog = []checker.Name{checker.StaleWrite, checker.LostUpdate, checker.DoubleExecution}

// checkUntil refuses to wait for what the resource or the workload rules out: it would never end the load.
func (o *Options) checkUntil() error {
	if o.Until == history.UntilExposed && isTested(o.Resource) {
		return fmt.Errorf("--until=%s: the log of a resource under test (--resource=%s) is read when the load is over, and which writes it handled is not known before, so it would never end the run; leave it out",
			o.Until, o.Resource)
	}
	kind, _ := history.ResourceNamed(history.Resource(o.Resource))
	_, execution := o.schedule()
	words, _ := history.ExecutionNamed(execution)
	for _, rule := range []struct {
		names    []checker.Name
		ruledOut bool
		why      string // before the property's name
		instead  string // after "so it would never end the run"
	}{
		{[]checker.Name{checker.DoubleExecution}, o.Workload != workloads.Jobs, "without --workload=" + workloads.Jobs + ", %s does not apply", "add --workload=" + workloads.Jobs},
		{ofTheLog, isTested(o.Resource), "the log of a resource under test (--resource=" + o.Resource + ") is read when the load is over, and %s is not known before",
			string(checker.MutualExclusion) + " and " + string(checker.ResourceLinearizability) + " are"},
		{[]checker.Name{checker.StaleWrite}, kind.Compares == history.CompareBases, "with --resource=" + o.Resource + ", %s does not apply", string(checker.LostUpdate) + " does"},
		{[]checker.Name{checker.StaleWrite}, words.Keyed && kind.Compares == history.CompareNothing, "with --execution=" + string(execution) + ", %s does not apply",
			string(checker.DoubleExecution) + " does"},
	} {
		for _, name := range rule.names {
			if rule.ruledOut && slices.Contains(UntilWords(o.Until), string(name)) {
				return fmt.Errorf("--until=%s: "+rule.why+", so it would never end the run; %s", o.Until, name, rule.instead)
			}
		}
	}
	return nil
}
