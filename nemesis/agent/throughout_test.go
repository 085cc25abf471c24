//go:build linux

package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters/provider/procs"
)

// looks is a selection that lists something else at each look, the last for ever, and counts.
type looks struct {
	lists [][]int
	count int
}

func (l *looks) next() ([]int, error) {
	l.count++
	return l.lists[min(l.count, len(l.lists))-1], nil
}

// sleeper is a living process without children.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestATreeIsLookedAtUntilNothingIsLeftToChange(t *testing.T) {
	alone, gone := sleeper(t), 1<<22
	for name, c := range map[string]struct {
		lists   [][]int
		want    int   // looks
		changed []int // in order
		err     error
	}{
		"one process without children": {[][]int{{alone}}, 1, []int{alone}, nil},
		"none":                         {[][]int{{}}, 1, nil, procs.ErrNone},
		"two processes":                {[][]int{{alone, 5}}, 2, []int{alone, 5}, nil},
		"a fork in between":            {[][]int{{alone, 5}, {alone, 5, 6}}, 3, []int{alone, 5, 6}, nil},
		"one ends before its turn":     {[][]int{{alone, gone}}, 2, []int{alone}, nil},
		"all end before their turn":    {[][]int{{gone}}, 1, nil, nil},
	} {
		seen := &looks{lists: c.lists}
		var changed []int
		err := throughout(t.Context(), seen.next, func(pid int) (bool, error) {
			if pid == gone {
				return false, os.ErrProcessDone
			}
			if slices.Contains(changed, pid) {
				return false, nil
			}
			changed = append(changed, pid)
			return true, nil
		})
		if !errors.Is(err, c.err) || seen.count != c.want || !slices.Equal(changed, c.changed) {
			t.Errorf("%s: changed %v in %d looks: %v; want %v in %d: %v", name, changed, seen.count, err, c.changed, c.want, c.err)
		}
	}
}

// A process that can no longer be changed and is still there is waited for; what never ends and what never stops forking is
// given up in time.
func TestATreeThatIsNeverChangedAsAWholeIsAnError(t *testing.T) {
	alone := sleeper(t)
	for name, change := range map[string]func(int) (bool, error){
		"it cannot be changed": func(int) (bool, error) { return false, os.ErrProcessDone },
		"it forks for ever":    func(int) (bool, error) { return true, nil },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := throughout(ctx, procs.Only(alone, alone), change)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not all of its 2 processes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	failed := errors.New("no")
	if err := throughout(t.Context(), procs.Only(alone, alone), func(int) (bool, error) { return false, failed }); !errors.Is(err, failed) {
		t.Errorf("a change that failed: %v", err)
	}
}
