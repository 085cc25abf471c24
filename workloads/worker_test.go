package workloads

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
