package compare

import "time"

// defaultOverhead is what a run takes beside the time that its clients work (starting the service and ending it, the final
// phase, the judgement) for as long as no run was measured.
const defaultOverhead = 5 * time.Second

// estimate says how long the rest of a comparison takes at most. How long each run's clients work its plan says; what comes
// on top was measured, once a run was made.
type estimate struct {
	tasks []Task
	spent time.Duration // on top, in all runs measured
	runs  int
}

func newEstimate(tasks []Task) *estimate { return &estimate{tasks: tasks} }

// measured takes in a run that was made. One that could not be made says nothing of how long others take.
func (e *estimate) measured(task Task, run Run, took time.Duration) {
	if run.Error == "" && task.Planned > 0 {
		e.spent, e.runs = e.spent+max(took-task.Planned, 0), e.runs+1
	}
}

// left is about how long so many more runs of each task take, one after the other; 0 if that is unknown.
func (e *estimate) left(runs []int) (left time.Duration) {
	overhead := defaultOverhead
	if e.runs > 0 {
		overhead = e.spent / time.Duration(e.runs)
	}
	for i, task := range e.tasks {
		if runs[i] > 0 && task.Planned <= 0 {
			return 0
		}
		left += time.Duration(runs[i]) * (task.Planned + overhead)
	}
	return left
}
