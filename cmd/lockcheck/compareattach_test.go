package main

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

// The rate is of the command as a whole: runs side by side share it, and none is left without.
func TestRunsSideBySideShareTheRate(t *testing.T) {
	attach := compare.Flag{Name: "attach", Value: "127.0.0.1:1"}
	rate := func(n int) compare.Flag { return compare.Flag{Name: "max-rate", Value: fmt.Sprint(n)} }
	for _, c := range []struct {
		flags      []compare.Flag
		jobs, want int
	}{
		{nil, 2, 0},
		{[]compare.Flag{rate(5)}, 2, 0},
		{[]compare.Flag{attach}, 1, 20},
		{[]compare.Flag{attach}, 3, 6},
		{[]compare.Flag{rate(9), attach}, 2, 4},
	} {
		if got := ratePerRun(c.flags, c.jobs); got != c.want {
			t.Errorf("%v, %d side by side: %d acquires a second for each, want %d", c.flags, c.jobs, got, c.want)
		}
		if c.want*c.jobs > max(20, 9) {
			t.Errorf("%v: together they are more than the command may ask for", c.flags)
		}
	}
	slow := []compare.Task{compare.NewTask(compare.Cell{}, []compare.Flag{attach, rate(1)}, 1), compare.NewTask(compare.Cell{}, nil, 1)}
	for i, c := range []struct {
		tasks      []compare.Task
		jobs       int
		shard      compare.Shard
		sufficient bool
	}{
		{slow, 2, compare.Whole, false},
		{slow, 1, compare.Whole, true},
		{slow[1:], 2, compare.Whole, true},
		{slow[:1], 4, compare.Whole, true},
		{slow[:1], 1, compare.Shard{Index: 1, Count: 4}, false},
		{slow[1:], 1, compare.Shard{Index: 1, Count: 4}, true},
	} {
		if got := enoughRate(c.tasks, c.jobs, c.shard) == nil; got != c.sufficient {
			t.Errorf("%d: enough: %v", i, got)
		}
	}
	violation := &compare.Expectation{Expect: []compare.Wanted{{Property: model.StaleWrite, Verdicts: []model.Verdict{model.Violation}}}}
	awaited := compare.NewTask(compare.Cell{}, []compare.Flag{attach, rate(1)}, 4) // its runs wait for each other
	awaited.Expect = violation
	over := awaited
	over.Make = nil
	for want, tasks := range map[int][]compare.Task{1: {awaited, over}, 2: {awaited, compare.NewTask(compare.Cell{}, nil, 1)}, 4: {awaited, compare.NewTask(compare.Cell{}, nil, 9)}} {
		if got := sideBySideOf(tasks, 4); got != want {
			t.Errorf("%d side by side, want %d", got, want)
		}
	}
	if err := enoughRate([]compare.Task{awaited}, 4, compare.Whole); err != nil {
		t.Errorf("runs that wait for each other share no rate: %v", err)
	}
	if got := sideBySide(2, compare.Shard{Index: 2, Count: 3}); got != 6 || sideBySide(2, compare.Shard{}) != 2 {
		t.Errorf("two jobs of each of three shards are %d", got)
	}
}

// A service that others run is not for a campaign, whichever way its comparison names it: no pod knows what rate the others have.
func TestACampaignIsNotAttached(t *testing.T) {
	tasks := []compare.Task{{}, {Flags: []compare.Flag{{Name: "attach", Value: "127.0.0.1:1"}}}}
	if notAttached(tasks) == nil || notAttached(tasks[:1]) != nil {
		t.Error("a campaign may attach, or nothing may be one")
	}
}

// What a silent run says of a service that others run is shown at once; of the rest, the end is kept for its error.
func TestANoticeOfARunIsShownAtOnce(t *testing.T) {
	var kept bytes.Buffer
	var shown []string
	n := &noticed{to: &kept, notice: func(line string) { shown = append(shown, line) }}
	fmt.Fprint(n, "first\natta")
	fmt.Fprint(n, "ched to etcd at a:1: 2 clients\nlast ")
	if !slices.Equal(shown, []string{"attached to etcd at a:1: 2 clients"}) {
		t.Errorf("shown: %q", shown)
	}
	fmt.Fprint(n, "words")
	n.end()
	if kept.String() != "first\nlast words" {
		t.Errorf("kept: %q", kept.String())
	}
}
