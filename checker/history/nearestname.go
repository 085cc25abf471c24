package history

import (
	"fmt"
	"strings"
)

// Unknown is the error of a name that a table does not have: it says which ones there are, and which of them was probably meant.
func Unknown(what, name string, names []string) error {
	return fmt.Errorf("there is no %s %q%s; there are: %s", what, name, Meant("", name, names), strings.Join(names, ", "))
}

// Meant is " (did you mean etcd?)", to be put behind a name that a table does not have; "" if none of its names is near. before stands
// before each name, such as the dashes of flags.
func Meant(before, name string, names []string) string {
	if near := Nearest(name, names); near != "" {
		return fmt.Sprintf(" (did you mean %s%s?)", before, near)
	}
	return ""
}

// Nearest is the name that was probably meant by one with slips of the finger in it: one in three letters at most. It is "" if
// none is that near.
func Nearest(name string, names []string) string {
	nearest, slips := "", max(1, len(name)/3)+1
	for _, other := range names {
		if n := slipsBetween(name, other); n > 0 && n < slips {
			nearest, slips = other, n
		}
	}
	if len(name) < 2 {
		return "" // a letter is one slip from every other
	}
	return nearest
}

// slipsBetween counts letters that were left out, put in, mistaken, or typed in the wrong order (optimal string alignment).
func slipsBetween(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			mistaken := last[j]
			if a[i] != b[j] {
				mistaken++
			}
			row[j+1] = min(mistaken, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
