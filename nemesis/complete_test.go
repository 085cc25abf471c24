package nemesis

import (
	"slices"
	"strings"
	"testing"
)

// What is offered begins with what was typed, and is a spec.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  []string // among others; none: nothing is offered
	}{
		{"", []string{"none", "pause", "loss"}},
		{"p", []string{"pause", "partition"}},
		{"pause:", []string{"pause:holder", "pause:leader"}},
		{"pause:ho", []string{"pause:holder"}},
		{"pause:holder@", []string{"pause:holder@work", "pause:holder@acquire"}},
		{"pause:holder@wo", []string{"pause:holder@work", "pause:holder@worked"}},
		{"pause:holder,ki", []string{"pause:holder,kill"}},
		{"partition:leader;clock:", []string{"partition:leader;clock:one"}},
		{"failover@l", []string{"failover@lost"}},
		{"failover:", nil}, {"comet", nil}, {"comet:", nil}, {"comet@", nil}, {"pause:nowhere", nil}, {"kill:node(", nil}, {"kill:node(1,", nil},
	} {
		var got []string
		for _, w := range Complete(c.typed) {
			got = append(got, w.Name)
			if !strings.HasPrefix(w.Name, c.typed) || w.About == "" {
				t.Errorf("for %q it offers %q (%s)", c.typed, w.Name, w.About)
			}
			if _, err := Parse(w.Name); err != nil {
				t.Errorf("for %q it offers %q: %v", c.typed, w.Name, err)
			}
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("for %q it offers %q, not %q", c.typed, got, want)
			}
		}
		if c.want == nil && got != nil {
			t.Errorf("for %q it offers %q, want nothing", c.typed, got)
		}
	}
}
