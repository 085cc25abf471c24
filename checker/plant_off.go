//go:build !planted

package checker

import "github.com/anishathalye/porcupine"

// search asks the independent judge: only builds with the tag "planted" can make it lie.
func search(model porcupine.Model, ops []porcupine.Operation) answer {
	return boundedSearch(model, ops)
}
