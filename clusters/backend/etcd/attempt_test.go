package etcd

import (
	"errors"
	"testing"
)

// What an earlier sending of the same removal may have taken away does not show that it was gone before.
func TestWhatARemovalFoundProves(t *testing.T) {
	const own, none = 7, 0
	lost := errors.New("no answer")
	yes, no := true, false
	for name, test := range map[string]struct {
		lostBefore, sent bool
		found            int64
		want             *bool
	}{
		"its own key":                        {found: own, want: &yes},
		"nothing":                            {found: none, want: &no},
		"another's key":                      {found: own + 1, want: &no},
		"its own key, after a lost sending":  {lostBefore: true, sent: true, found: own, want: &yes},
		"nothing, after a lost sending":      {lostBefore: true, sent: true, found: none},
		"nothing, after one that never left": {lostBefore: true, found: none, want: &no},
	} {
		t.Run(name, func(t *testing.T) {
			a := &attempt{}
			if test.lostBefore {
				a.removal(test.sent, true, none, lost)
			}
			a.removal(true, true, test.found, nil)
			got := a.removed(own)
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("owned %v, want %v", got, test.want)
			}
		})
	}
}
