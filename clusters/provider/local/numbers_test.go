//go:build linux

package local

import (
	"strings"
	"testing"
)

func TestANumberComesAgainAfterAllTheOthers(t *testing.T) {
	var n numbers
	take := func() int {
		t.Helper()
		number, err := n.take()
		if err != nil {
			t.Fatal(err)
		}
		return number
	}
	kept := take()
	for round := range 3 {
		seen := map[int]bool{kept: true}
		for range maxSites - 1 {
			number := take()
			if number < 1 || number > maxSites || seen[number] {
				t.Fatalf("round %d: %d, given before: %t", round, number, seen[number])
			}
			seen[number] = true
			n.free(number)
		}
	}
	for range maxSites - 1 {
		take()
	}
	if number, err := n.take(); err == nil || !strings.Contains(err.Error(), "255 sites at once") {
		t.Errorf("got %d, %v, where all are taken", number, err)
	}
	n.free(7)
	if number := take(); number != 7 {
		t.Errorf("got %d, and only 7 is free", number)
	}
}
