//go:build linux

package compare

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lockcheck/reports/testkit"
)

// A terminal that does not know its size, as docker run -t has one at first, is shown lines; one that does, the table.
func TestScreenOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for name, test := range map[string]struct {
		size  unix.Winsize
		lines bool
	}{"0×0": {unix.Winsize{}, true}, "100×30": {unix.Winsize{Col: 100, Row: 30}, false}} {
		t.Run(name, func(t *testing.T) {
			terminal, seen := testkit.Pseudo(t, test.size)
			tasks := []Task{task("etcd", 1, nil)}
			screen := NewScreen(terminal, tasks, false)
			Execute(t.Context(), tasks, Execution{Seed: 7}, &scripted{runs: map[string][]Run{"etcd": {calm()}}}, screen)
			screen.Close()
			fmt.Fprintln(terminal, "the end")
			var text strings.Builder
			for in := bufio.NewScanner(seen); in.Scan() && !strings.Contains(in.Text(), "the end"); {
				text.WriteString(in.Text() + "\n")
			}
			if drawn := strings.Contains(text.String(), "\x1b["); drawn == test.lines || !strings.Contains(text.String(), "cell 1 of 1") {
				t.Errorf("drawn over: %v, want %v:\n%q", drawn, !test.lines, text.String())
			}
		})
	}
}
