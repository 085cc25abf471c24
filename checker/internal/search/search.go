// Package search asks Porcupine for an order of operations, within bounds that count steps and not time.
package search

import (
	"io"
	"iter"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// Bounds of one search. They count, so that the same history gives the same answer on every machine; Porcupine's own
// timeout would not. A search of MaxSearchOps operations keeps at most MaxSteps states of some 100 bytes.
const (
	MaxSearchOps = 1024
	MaxSteps     = 400_000
)

// Answer is what a bounded search came to.
type Answer int

const (
	Legal Answer = iota
	Illegal
	Undecided // out of budget
)

// Limited is a model that refuses every step once so many were taken, which lets Porcupine come to its end quickly; what it
// says when none is left means nothing.
func Limited(model porcupine.Model, left *int) porcupine.Model {
	step := model.Step
	model.Step = func(state, input, output any) (bool, any) {
		if *left--; *left < 0 {
			return false, state
		}
		return step(state, input, output)
	}
	return model
}

// bounded asks Porcupine whether some order explains the operations.
func bounded(model porcupine.Model, ops []porcupine.Operation) Answer {
	if len(ops) > MaxSearchOps {
		return Undecided
	}
	left := MaxSteps
	ok := porcupine.CheckOperations(Limited(model, &left), ops)
	switch {
	case left < 0:
		return Undecided
	case ok:
		return Legal
	}
	return Illegal
}

// InTurn searches windows on all processors as they are handed over, and returns the answer of the first that is not
// legal, so that it is the same however many processors there are. However many windows come, few wait at a time.
func InTurn[W any](windows iter.Seq[W], search func(W) Answer) Answer {
	type numbered struct {
		n      int64
		window W
	}
	type verdict struct {
		n int64
		Answer
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
				for v := first.Load(); found != Legal && (v == nil || w.n < v.n); v = first.Load() {
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
		return v.Answer
	}
	return Legal
}

// Draw writes Porcupine's own picture of some operations, an HTML page. Its bytes differ from run to run.
func Draw(w io.Writer, model porcupine.Model, ops []porcupine.Operation) error {
	left := MaxSteps
	_, info := porcupine.CheckOperationsVerbose(Limited(model, &left), ops, 0)
	return porcupine.Visualize(model, info, w)
}

// OpenEnd is where operations without an end return: Porcupine misreads one that does not.
const OpenEnd = math.MaxInt64
