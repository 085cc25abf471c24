//go:build !planted

package search

import "github.com/anishathalye/porcupine"

// Ask asks the independent judge: only builds with the tag "planted" can make it lie.
func Ask(model porcupine.Model, ops []porcupine.Operation) Answer {
	return bounded(model, ops)
}
