package workloads

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads/client"
)

// A client that a nemesis kills for a whole day is replaced each time; one that keeps dying by itself is not.
func TestOnlyClientsThatDieByThemselvesAreGivenUp(t *testing.T) {
	cases := []struct {
		name   string
		killed bool
		why    error
		most   int // successors
		says   string
	}{
		{"killed by a fault", true, errors.New("its output ended"), 1000, ""},
		{"dies by itself", false, errors.New("its output ended"), mostDeaths, "c1 ended by itself 21 times"},
		{"breaks the protocol", false, fmt.Errorf("%w: no JSON", client.ErrProtocol), 0, "cannot be used"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := &worker{host: "c1", client: &member{name: "c1"}, run: &Run{fleet: &fleet{}}}
			w.client.killed.Store(c.killed)
			for n := range 1000 {
				err := w.mourn(c.why)
				if err == nil {
					continue
				}
				if n != c.most || c.says == "" || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("after %d successors: %v; want %d and %q", n, err, c.most, c.says)
				}
				return
			}
			if c.says != "" {
				t.Error("it is replaced for ever")
			}
		})
	}
}

// Who brings a lock client has to mend it; lockcheck's own are lockcheck's to mend.
func TestABrokenClientIsItsAuthorsToMend(t *testing.T) {
	for program, usage := range map[string]bool{"": false, "./mine": true} {
		run := &Run{fleet: &fleet{command: clusters.Command{Program: program}}}
		w := &worker{host: "c1", client: &member{name: "c1"}, run: run}
		if err := w.mourn(fmt.Errorf("%w: no JSON", client.ErrProtocol)); errors.Is(err, clusters.ErrUsage) != usage {
			t.Errorf("program %q: %v", program, err)
		}
	}
}

// Whoever starts later is held to what the plan says of tokens by then, and not to another word of its own.
func TestAllClientsHaveToDeclareTheSameTokens(t *testing.T) {
	run := &Run{fleet: &fleet{command: clusters.Command{Program: "./mine"}}}
	run.plan.Tokens = history.TokensOrdered
	for tokens, agrees := range map[history.Tokens]bool{history.TokensOrdered: true, history.TokensNone: false} {
		err := run.agrees(&member{name: "c1-2", ready: client.Ready{Tokens: string(tokens)}})
		if (err == nil) != agrees || err != nil && (!errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), `c1-2 declares tokens "none", and those before it "ordered"`)) {
			t.Errorf("tokens %q: %v", tokens, err)
		}
	}
}
