package checker

import (
	"lockcheck/checker/explain"
	"lockcheck/checker/model"
)

// Witnesses makes a witness for the first findings of every property that is violated. Rec is the recording that Check
// judged with these options, coming to this result and model; unlike there its sequences are ranged over several times,
// and have to begin anew each time.
//
// A witness is not believed because of how it was made. It is judged, and has to come to the very finding that it is made
// for: the same holds, at the same moment, in the same words, with the same cause. So a line that is missing can never make
// it say what the whole run does not; and what it can do without is found by leaving it out.
//
// The error is one of the sequences' own. A finding without a witness is no error: see Witness.Missing.
func Witnesses(rec model.Recording, result *model.Result, m *model.Model, opts Options) ([]explain.Witness, error) {
	return explain.FindWitnesses(rec, result, m, func(w *explain.Witness) (*model.Result, error) {
		result, _, err := Check(w.Recording(), Options{FailedAs: opts.FailedAs, MaxFindings: explain.MaxWitnessLines})
		return result, err
	})
}
