//go:build planted

package checker

import "github.com/anishathalye/porcupine"

// Built with the tag "planted", the independent judge can be made to say the contrary of what it found, a branch that no test
// reaches otherwise:
//
//	go build -tags planted -ldflags '-X lockcheck/checker.plantedSearch=contrary' ./cmd/lockcheck
var plantedSearch string

func search(model porcupine.Model, ops []porcupine.Operation) answer {
	found := boundedSearch(model, ops)
	switch {
	case plantedSearch == "contrary" && found == legal:
		return illegal
	case plantedSearch == "contrary" && found == illegal:
		return legal
	}
	return found
}
