package run

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/workloads/targets"
)

// A fault that can be aimed at a target is one that the target can suffer.
func TestTargetsSufferWhatIsAimedAtThem(t *testing.T) {
	for _, kind := range nemesis.Kinds[1:] {
		for _, name := range kind.Targets {
			var target nemesis.Target = targets.Server{}
			switch {
			case name == history.ResourceTarget:
				target = testedTarget{}
			case history.TargetNamed(name).Clients:
				target = lockClient{}
			}
			if !kind.CanHit(target) {
				t.Errorf("%s can be aimed at %s, and %T cannot suffer it", kind.Name, name, target)
			}
		}
	}
}
