// Package models judges histories of single objects that were recorded elsewhere: is there an order of the operations,
// each taking effect at one moment between its invocation and its completion, that a mutex, an owner-aware mutex, a
// fenced mutex, a register or a compare-and-set register explains?
//
//	h, err := jepsen.Read(file, "history.edn")
//	if err != nil {
//		return err
//	}
//	result, err := models.Check(models.Mutex, h.Operations, models.DefaultSteps)
//	if err != nil {
//		return err // an operation the model does not know, or a *Defect
//	}
//	fmt.Println(result.Answer, result.Counterexample)
//
// An operation whose outcome is unknown may take effect at any time after its call, or never; one that failed is no part
// of the history. A history is one object's: Split parts those that Jepsen's independent tests make of several keys, and
// CheckEach judges each alone.
//
// Where there is an exact rule the answer comes from it in O(n log n), and Porcupine confirms it: an order in windows, a
// contradiction on the few operations that make it. Mutex always has one; the mutexes with owners have one as long as
// each owner does one thing at a time. All else is searched for by Porcupine, with a budget of steps, so that the answer is
// the same on every machine; a search that runs out is Undecided, and never an answer.
package models
