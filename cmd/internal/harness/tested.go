package harness

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads"
)

// chosenResource is what --resource names: one of lockcheck's own, or one under test, of which nothing is known but how it is started.
type chosenResource struct {
	kind   history.ResourceKind
	tested *workloads.Tested // nil for lockcheck's own
}

// resourceNamed finds the resource that was asked for; "" is what the workload implies.
func resourceNamed(name string, workload workloads.Workload) (chosenResource, error) {
	if !history.IsOwnResource(name) {
		kind, known := history.ResourceNamed(cmp.Or(history.Resource(name), workload.Resource))
		if !known {
			return chosenResource{}, fmt.Errorf("--resource: %w", history.Unknown("resource", name, history.ResourceNames()))
		}
		return chosenResource{kind: kind}, nil
	}
	if history.IsResourceURL(name) {
		return chosenResource{}, fmt.Errorf("--resource=%s: a resource that others run cannot be reached from a run's network yet: name a program that lockcheck starts (--resource=./PATH)", name)
	}
	words := strings.Fields(name)
	program, err := exec.LookPath(words[0])
	if err != nil {
		return chosenResource{}, fmt.Errorf("--resource: the program %s cannot be run: %w", words[0], err)
	}
	return chosenResource{
		kind:   history.ResourceKind{Name: history.Resource(name)},
		tested: &workloads.Tested{Command: clusters.Command{Program: absolute(program), Args: words[1:]}},
	}, nil
}

// into puts the resource into a plan. What one under test compares is known when it was started.
func (c chosenResource) into(plan *history.Plan, workload workloads.Workload) {
	plan.Resource = c.kind.Name
	if c.tested != nil {
		plan.UnderTest = &history.UnderTest{}
		return
	}
	plan.Fenced = workload.Tokens && c.kind.Compares == history.CompareTokens
}

// resourceRule is a rule for a word of the table, or a program of the user's.
func resourceRule() Rule {
	own := oneOf("resource", history.ResourceNames())
	return Rule{
		Check: func(name, value string) error {
			if history.IsOwnResource(value) {
				return nil
			}
			return own.Check(name, value)
		},
		Words:  own.Words,
		Schema: map[string]any{"anyOf": []map[string]any{own.Schema, {"type": "string", "pattern": ProgramPattern, "description": "a program that speaks the protocol of a resource under test"}}},
	}
}
