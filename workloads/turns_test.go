package workloads

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/workloads/driver"
)

// asked is a client that answers at once, and notes what it is asked to do.
type asked struct {
	did     []string
	ops     int64
	fails   client.CommandName // the command that it fails
	healed  client.CommandName // the command after which the load is over
	lost    bool               // it is told of the loss of its lock while it writes
	over    bool
	slot    string // that its resource has recorded
	tries   int
	command client.Command
}

func (a *asked) Do(_ context.Context, c client.Command) driver.Completion {
	a.did, a.command = append(a.did, string(c.Cmd)), c
	a.over = a.over || c.Cmd == a.healed
	if c.Try {
		a.tries++
	}
	if c.Cmd == a.fails {
		return driver.Completion{Type: history.Fail}
	}
	return driver.Completion{Type: history.OK, Report: client.Report{Value: a.slot}}
}

func (a *asked) NextOp() int64                                    { a.ops++; return a.ops }
func (a *asked) Release(context.Context, string, string)          { a.did = append(a.did, "release") }
func (a *asked) AboutToRelease(context.Context, string, string)   { a.did = append(a.did, "about to") }
func (a *asked) ReleaseOrphans(context.Context)                   {}
func (a *asked) Holds() bool                                      { return !a.lost }
func (a *asked) Gone() bool                                       { return false }
func (a *asked) Loading() bool                                    { return !a.over }
func (a *asked) Now() int64                                       { return int64(time.Hour) }
func (a *asked) Pause(context.Context, time.Duration) bool        { return true }
func (a *asked) MayAsk(context.Context) bool                      { return true }
func (a *asked) Lasts(_ string, work time.Duration) time.Duration { return work }

func TestATurnIsWhatACarefulUserOfALockDoes(t *testing.T) {
	plan := history.Plan{Workload: "lock", Keys: 1, Guard: "before-work"}
	for name, c := range map[string]struct {
		client *asked
		want   []string
	}{
		"granted":                       {&asked{}, []string{"acquire", "read", "write", "about to", "release"}},
		"not granted":                   {&asked{fails: client.CmdAcquire}, []string{"acquire"}},
		"granted when all was healed":   {&asked{healed: client.CmdAcquire}, []string{"acquire", "release"}},
		"the resource did not answer":   {&asked{fails: client.CmdRead}, []string{"acquire", "read", "about to", "release"}},
		"the first loss is released so": {&asked{lost: true}, []string{"acquire", "read", "write", "about to", "release"}},
	} {
		NewTurns(plan, []string{"k1"}, 1, 0, c.client).Take(t.Context())
		if !slices.Equal(c.client.did, c.want) {
			t.Errorf("%s: it did %q, want %q", name, c.client.did, c.want)
		}
	}
}

// Some acquires do not wait where the plan says so; what else clients do is the same, with and without.
func TestSomeAcquiresDoNotWait(t *testing.T) {
	const turns = 1200
	works := map[bool][]int64{}
	for _, tries := range []bool{false, true} {
		work := history.DefaultWork
		work.Tries = tries
		c := &asked{}
		of := NewTurns(history.Plan{Workload: "lock", Keys: 1, Guard: "before-work", Seed: 3, Work: &work}, []string{"k1"}, 1, 0, c)
		for range turns {
			of.Take(t.Context())
			works[tries] = append(works[tries], c.command.WorkMS)
		}
		if (c.tries > 0) != tries || c.tries > 0 && (c.tries < turns/oneInTries/2 || c.tries > turns/oneInTries*2) {
			t.Errorf("%d of %d acquires do not wait", c.tries, turns)
		}
	}
	if !slices.Equal(works[false], works[true]) {
		t.Error("with tries clients work otherwise")
	}
}

// A client runs the slot after the one that is recorded, if that is due, and no other.
func TestATurnOfJobsRunsTheNextSlotThatIsDue(t *testing.T) {
	plan := history.Plan{Workload: Jobs, Keys: 1, Guard: "before-work", SlotMS: 1000, Execution: history.AtLeastOnce}
	for recorded, writes := range map[int64]bool{0: true, 41: true, 3600: false} {
		c := &asked{}
		if recorded > 0 {
			c.slot = history.JobRecord(recorded, "h1.1")
		}
		NewTurns(plan, []string{"k1"}, 1, 0, c).Take(t.Context())
		slot, ok := history.RecordedSlot(c.command.Value)
		switch {
		case slices.Contains(c.did, string(client.CmdWrite)) != writes:
			t.Errorf("after slot %d it did %q", recorded, c.did)
		case writes && (!ok || slot != recorded+1):
			t.Errorf("after slot %d it wrote %q", recorded, c.command.Value)
		}
	}
}

// One seed gives one sequence of turns, whatever comes of them, and each place has its own.
func TestTurnsFollowFromTheSeed(t *testing.T) {
	draw := func(place int, fails client.CommandName) (all string) {
		c := &asked{fails: fails}
		turns := NewTurns(history.Plan{Seed: 7, Keys: 5}, []string{"k1", "k2", "k3", "k4", "k5"}, place, 0, c)
		for range 20 {
			turns.Take(t.Context())
			all += fmt.Sprint(c.command.Key, turns.Rest())
		}
		return all
	}
	if draw(1, "") != draw(1, client.CmdAcquire) || draw(1, "") == draw(2, "") {
		t.Error("they do not")
	}
}
