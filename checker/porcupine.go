package checker

import (
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// porcupineName is how results name the independent judge.
const porcupineName = "porcupine"

// Bounds of one search. They count, so that the same history gives the same answer on every machine; Porcupine's own
// timeout would not. A search of maxSearchOps operations keeps at most maxSteps states of some 100 bytes.
const (
	maxSearchOps = 1024
	maxSteps     = 400_000
)

// ErrDisagreement marks that the exact algorithms and Porcupine came to different answers about one history: a bug of
// lockcheck, with any history, so neither answer is a verdict. It also is an ErrDefect.
var ErrDisagreement = &disagreement{}

type disagreement struct{ what string }

func (d *disagreement) Error() string {
	return "a defect of lockcheck: its exact algorithm and Porcupine disagree: " + d.what
}

func (d *disagreement) Is(target error) bool {
	_, same := target.(*disagreement)
	return same || target == ErrDefect
}

func disagreementf(format string, args ...any) error {
	return &disagreement{fmt.Sprintf(format, args...)}
}

// answer is what a bounded search came to.
type answer int

const (
	legal answer = iota
	illegal
	undecided // out of budget
)

// limited is a model that refuses every step once so many were taken, which lets Porcupine come to its end quickly; what it
// says when none is left means nothing.
func limited(model porcupine.Model, left *int) porcupine.Model {
	step := model.Step
	model.Step = func(state, input, output any) (bool, any) {
		if *left--; *left < 0 {
			return false, state
		}
		return step(state, input, output)
	}
	return model
}

// boundedSearch asks Porcupine whether some order explains the operations.
func boundedSearch(model porcupine.Model, ops []porcupine.Operation) answer {
	if len(ops) > maxSearchOps {
		return undecided
	}
	left := maxSteps
	ok := porcupine.CheckOperations(limited(model, &left), ops)
	switch {
	case left < 0:
		return undecided
	case ok:
		return legal
	}
	return illegal
}

// searchInTurn searches windows on all processors as they are handed over, and returns the answer of the first that is not
// legal, so that it is the same however many processors there are. However many windows come, few wait at a time.
func searchInTurn[W any](windows iter.Seq[W], search func(W) answer) answer {
	type numbered struct {
		n      int64
		window W
	}
	type verdict struct {
		n int64
		answer
	}
	workers := runtime.GOMAXPROCS(0)
	waiting := make(chan numbered, 2*workers)
	var first atomic.Pointer[verdict] // of those that are not legal
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for w := range waiting {
				if v := first.Load(); v != nil && v.n < w.n {
					continue // what comes before the first that is not legal is searched all the same
				}
				found := search(w.window)
				for v := first.Load(); found != legal && (v == nil || w.n < v.n); v = first.Load() {
					if first.CompareAndSwap(v, &verdict{w.n, found}) {
						break
					}
				}
			}
		})
	}
	n := int64(0)
	for w := range windows {
		if first.Load() != nil {
			break
		}
		waiting <- numbered{n, w}
		n++
	}
	close(waiting)
	done.Wait()
	if v := first.Load(); v != nil {
		return v.answer
	}
	return legal
}

// draw writes Porcupine's own picture of some operations, an HTML page. Its bytes differ from run to run.
func draw(w io.Writer, model porcupine.Model, ops []porcupine.Operation) error {
	left := maxSteps
	_, info := porcupine.CheckOperationsVerbose(limited(model, &left), ops, 0)
	return porcupine.Visualize(model, info, w)
}

// openEnd is where operations without an end return: Porcupine misreads one that does not.
const openEnd = math.MaxInt64
