// Package chance measures whether a hunt finds defects sooner than chance does: small locks with planted defects (smallworld) are searched by
// hunts, by chance over the same grammar, and by the default mixes, and the runs until the first find are compared. It is for tests.
package chance

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/cmd/internal/hunt/smallworld"
)

// Arm is a way to choose what to run next.
type Arm string

// The arms. Those after Mixes are hunts that lack a part: they show what it carries.
const (
	Hunt            Arm = "hunt"
	Uniform         Arm = "uniform" // by chance, over the same grammar
	Mixes           Arm = "mixes"   // the default mixes of all kinds, one after another, each time with another seed
	WithoutMargins  Arm = "hunt without margins"
	WithoutCoverage Arm = "hunt without coverage"
	WithoutElites   Arm = "hunt without elites" // the covering array, and chance
)

// Arms are those that are compared, and Ablations the others.
var (
	Arms      = []Arm{Hunt, Uniform, Mixes}
	Ablations = []Arm{WithoutMargins, WithoutCoverage, WithoutElites}
)

// Cell is one search: a lock, an arm, and the number of the repetition.
type Cell struct {
	Bug string `json:"bug"`
	Arm Arm    `json:"arm"`
	N   int    `json:"n"`
}

// Ended is what came of a search: it found something in its last run, or nothing within the budget.
type Ended struct {
	Cell
	Runs  int  `json:"runs"` // all that were started
	Found bool `json:"found"`
}

// seed is different for each cell.
func (c Cell) seed() int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s|%s|%d", c.Bug, c.Arm, c.N)
	return int64(h.Sum64() >> 1)
}

// Search searches a lock until something was found, or the budget is spent, which is in runs.
func Search(l smallworld.Lock, arm Arm, n, budget int) (Ended, error) {
	cell := Cell{NameOf(l), arm, n}
	next, learn := chooser(l, arm, cell.seed())
	for run := 1; run <= budget; run++ {
		spec, seed := next()
		o, err := outcome(l, spec, seed)
		if err != nil {
			return Ended{}, fmt.Errorf("%v: %s with seed %d: %w", cell, spec, seed, err)
		}
		if len(o.Finds) > 0 {
			return Ended{cell, run, true}, nil
		}
		learn(o)
	}
	return Ended{cell, budget, false}, nil
}

// NameOf names a lock, with what is wrong with it.
func NameOf(l smallworld.Lock) string {
	if l.Defect == "" {
		return l.Name
	}
	return l.Name + ": " + string(l.Defect)
}

// chooser is how an arm chooses a run, and learns what came of it.
func chooser(l smallworld.Lock, arm Arm, seed int64) (next func() (string, int64), learn func(hunt.Outcome)) {
	menu := smallworld.Menu(l)
	runs := int64(0)
	switch arm {
	case Uniform:
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		return func() (string, int64) { runs++; return menu.Draw(r).String(), seed + runs }, func(hunt.Outcome) {}
	case Mixes:
		mixes := smallworld.Mixes(l)
		first := int64(rand.New(rand.NewPCG(uint64(seed), 2)).IntN(len(mixes)))
		return func() (string, int64) { runs++; return mixes[(first+runs)%int64(len(mixes))], seed + runs }, func(hunt.Outcome) {}
	}
	search := hunt.NewSearch(menu, seed)
	var trial hunt.Trial
	next = func() (string, int64) {
		trial = search.Next()
		return trial.Nemesis, trial.Seed
	}
	return next, func(o hunt.Outcome) {
		switch arm {
		case WithoutMargins:
			o.Margins = nil
		case WithoutCoverage:
			o.Features = nil
		case WithoutElites:
			o.Margins, o.Features = nil, nil
		}
		search.Learn(trial, o)
	}
}

// outcome makes a run, and judges it as a hunt does.
func outcome(l smallworld.Lock, spec string, seed int64) (hunt.Outcome, error) {
	run, err := smallworld.Play(l, spec, seed)
	if err != nil {
		return hunt.Outcome{}, err
	}
	rec := model.Recording{Plan: run.Plan, Events: rows(run.Events), Requests: rows(run.Requests)}
	result, m, err := checker.Check(rec, checker.Options{MaxFindings: 1, Unconfirmed: true}) // the exact algorithms alone: Porcupine only confirms
	if err != nil {
		return hunt.Outcome{}, err
	}
	return hunt.OutcomeFrom(hunt.Outcome{}, result, m, hunt.Service(), func(string) string { return "" }), nil
}

func rows[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// All makes the searches that are not among those that were made already, on all processors, and tells of each that ended. The order in which they
// end is not always the same; what comes of each is.
func All(locks []smallworld.Lock, arms []Arm, n, budget int, made []Ended, ended func(Ended) error) ([]Ended, error) {
	known := map[Cell]bool{}
	for _, e := range made {
		known[e.Cell] = true
	}
	type job struct {
		lock smallworld.Lock
		arm  Arm
		n    int
	}
	jobs := make(chan job)
	go func() {
		defer close(jobs)
		for i := 1; i <= n; i++ {
			for _, l := range locks {
				for _, arm := range arms {
					if !known[Cell{NameOf(l), arm, i}] {
						jobs <- job{l, arm, i}
					}
				}
			}
		}
	}()
	var mu sync.Mutex
	var failed error
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for j := range jobs {
				mu.Lock()
				over := failed != nil
				mu.Unlock()
				if over {
					continue
				}
				e, err := Search(j.lock, j.arm, j.n, budget)
				mu.Lock()
				if err == nil {
					err = ended(e)
				}
				if err != nil {
					failed = err
				} else {
					made = append(made, e)
				}
				mu.Unlock()
			}
		})
	}
	working.Wait()
	return made, failed
}
