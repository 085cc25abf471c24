package main

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

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
	slow := []compare.Task{{Flags: []compare.Flag{attach, rate(1)}}, {}}
	if enoughRate(slow, 2) == nil || enoughRate(slow, 1) != nil || enoughRate(slow[1:], 2) != nil || enoughRate(slow[:1], 4) != nil {
		t.Error("a rate too small for so many runs side by side is taken, or one that is enough is not")
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
