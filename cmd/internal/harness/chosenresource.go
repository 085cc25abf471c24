package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"unicode"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/resource"
	"lockcheck/workloads"
	"lockcheck/workloads/run"
)

// ofThisMachine reports whether a resource is this machine's, and so not for containers: they have none of its programs, and none of
// its certificates of who may sign.
func ofThisMachine(name string) bool {
	return history.IsOwnResource(name) && !strings.HasPrefix(name, "http://")
}

// isTested reports whether a resource is under test.
func isTested(name string) bool {
	kind, _ := history.ResourceNamed(history.Resource(name))
	return kind.UnderTest || history.IsOwnResource(name)
}

// serveKeeper is the resource in front of a database server. It ends with the run's other processes.
func serveKeeper(ctx context.Context, listen, database, addr string, withoutTokens bool) error {
	backend, err := backendNamed(database)
	if err != nil {
		return Usage(err)
	}
	server, able := backend.(run.ResourceServer)
	if !able {
		return Usage(fmt.Errorf("--storage: %s cannot be a resource", database))
	}
	keeper, err := server.OpenResource(ctx, addr)
	if err != nil {
		return fmt.Errorf("the database server %s at %s: %w", database, addr, err)
	}
	defer keeper.Close()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("the resource listening on %s: %w", listen, err)
	}
	return resource.ServeKeeper(ctx, l, keeper, resource.KeeperMode{Name: database, WithoutTokens: withoutTokens})
}

// chosenResource is what --resource names: one of lockcheck's own, or one under test, of which nothing is known but how it is started.
type chosenResource struct {
	kind   history.ResourceKind
	tested *run.Tested // nil for lockcheck's own
}

// resourceNamed finds the resource that was asked for; "" is what the workload implies.
func resourceNamed(name string, workload workloads.Workload) (chosenResource, error) {
	if !history.IsOwnResource(name) {
		kind, known := history.ResourceNamed(cmp.Or(history.Resource(name), workload.Resource))
		if !known {
			return chosenResource{}, fmt.Errorf("--resource: %w", history.Unknown("resource", name, history.ResourceNames()))
		}
		chosen := chosenResource{kind: kind}
		if kind.UnderTest {
			backend, _ := backendNamed(name)
			server, able := backend.(run.ResourceServer)
			if !able {
				return chosenResource{}, fmt.Errorf("--resource=%s: this program has no resource of that name", name)
			}
			chosen.tested = &run.Tested{Server: server, WithoutTokens: !workload.Tokens}
		}
		return chosen, nil
	}
	kind := history.ResourceKind{Name: history.Resource(name)}
	if history.IsResourceURL(name) {
		if _, err := resource.PlaceOf(name); err != nil {
			return chosenResource{}, fmt.Errorf("--resource: %w", err)
		}
		return chosenResource{kind: kind, tested: &run.Tested{URL: name, KeyPrefix: "lockcheck-" + strings.ToLower(rand.Text()) + "-"}}, nil
	}
	words := strings.Fields(name)
	program, err := exec.LookPath(words[0])
	if err != nil {
		return chosenResource{}, fmt.Errorf("--resource: the program %s cannot be run: %w", words[0], err)
	}
	return chosenResource{
		kind:   kind,
		tested: &run.Tested{Command: clusters.Command{Program: absolute(program), Args: words[1:]}},
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

// printable refuses a name that is not one line: it stands in lines of terminals and reports, and a terminal obeys what it is shown.
func printable(name, value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s=%q has characters that cannot be printed, such as a line break: leave them out", name, value)
	}
	return nil
}

// resourceRule is a rule for a word of the table, a program of the user's or a URL.
func resourceRule() Rule {
	own := oneOf("resource", history.ResourceNames())
	return Rule{
		Check: func(name, value string) error {
			if err := printable(name, value); err != nil {
				return err
			}
			if history.IsOwnResource(value) {
				return nil
			}
			return own.Check(name, value)
		},
		Words:  own.Words,
		Schema: map[string]any{"anyOf": []map[string]any{own.Schema, {"type": "string", "pattern": ProgramPattern, "description": "a program, or the URL of a service, that speaks the protocol of a resource under test"}}},
	}
}
