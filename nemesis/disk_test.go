package nemesis

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockcheck/clusters/provider/disk"
)

// onDisk is a server whose disk can be made to fail. It remembers by what rule, and who ended by that.
type onDisk struct {
	*victim
	rule  disk.Rule
	ended []string
	why   error
}

func (o *onDisk) BreakDisk(_ context.Context, _ string, rule disk.Rule) error {
	o.rule = rule
	return nil
}
func (o *onDisk) MendDisk(context.Context, string) ([]string, error) { return o.ended, o.why }

// What the grammar says of a disk is what it does; without a word it stands still.
func TestWhatADiskDoes(t *testing.T) {
	for spec, want := range map[string]string{
		"disk:one":                        "reads, writes and syncs stand still",
		"disk:one,stall,syncs":            "syncs stand still",
		"disk:one,error,writes,syncs":     "writes and syncs fail (EIO)",
		"disk:one,slow=50ms,reads,writes": "reads and writes take 50ms longer",
	} {
		s, target := &scene{}, &onDisk{victim: &victim{name: "n1"}}
		i := inject(t.Context(), s, drawnStep{Fault: mustParse(t, spec)[0][0]}.act(s, target, Moment{}))
		if target.rule.String() != want || i.event.Detail != want || !i.took {
			t.Errorf("%s: %v, told as %q", spec, target.rule, i.event.Detail)
		}
	}
}

// Servers that did not bear their disks are told when the fault is over, also if something else went wrong.
func TestServersThatEndedByThemselvesAreTold(t *testing.T) {
	for _, test := range []struct {
		ended []string
		why   error
		want  string
	}{
		{nil, nil, "reads, writes and syncs fail (EIO)"},
		{[]string{"n1"}, nil, "reads, writes and syncs fail (EIO); ended by itself, and started again: n1"},
		{[]string{"n1", "n3"}, errors.New("n2 does not start"), "reads, writes and syncs fail (EIO); ended by itself, and started again: n1, n3"},
	} {
		s, target := &scene{}, &onDisk{victim: &victim{name: "n1"}, ended: test.ended, why: test.why}
		act := drawnStep{Fault: mustParse(t, "disk:one,error")[0][0], Hold: time.Second}.act(s, target, Moment{})
		i := inject(t.Context(), s, act)
		if err := i.heal(t.Context()); !errors.Is(err, test.why) || act.event.Detail != test.want {
			t.Errorf("%v, told as %q, want %q", err, act.event.Detail, test.want)
		}
	}
}
