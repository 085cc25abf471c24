//go:build planted

package search

import "github.com/anishathalye/porcupine"

// Built with the tag "planted", the independent judge can be made to say the contrary of what it found, a branch that no test
// reaches otherwise:
//
//	go build -tags planted -ldflags '-X lockcheck/checker/internal/search.plantedSearch=contrary' ./cmd/lockcheck
var plantedSearch string

// Ask asks the independent judge, and lies where that was asked for.
func Ask(model porcupine.Model, ops []porcupine.Operation) Answer {
	found := bounded(model, ops)
	switch {
	case plantedSearch == "contrary" && found == Legal:
		return Illegal
	case plantedSearch == "contrary" && found == Illegal:
		return Legal
	}
	return found
}
