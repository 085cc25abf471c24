// Package jepsen reads histories that Jepsen recorded: history.edn in all its shapes (one vector, or one map after the
// other, plain or tagged as records), history.txt, and the log that a test printed.
//
//	h, err := jepsen.Read(file, "history.edn")
//	if err != nil {
//		return err // names file and line
//	}
//	result, err := models.Check(models.Mutex, h.Operations, models.DefaultSteps)
//
// Nothing about a file is trusted. Nesting, lengths and numbers of values are bounded, so that a file which is no history
// costs neither the stack nor the memory of the machine; and what cannot be understood is refused with its line instead
// of being passed over, because a history with a hole has another verdict. Only two things are passed over, and both are
// counted: events of processes that are no clients (the nemesis), and the lines of a log that are no operations.
//
// The order of a history is the order of its lines, as in Jepsen: an invocation is recorded before the operation is
// sent, and a completion after its answer came. Jepsen's :time is read off a clock outside of that order (in public
// histories it runs backwards from one line to the next), so it judges nothing.
package jepsen
