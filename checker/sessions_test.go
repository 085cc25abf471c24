package checker

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// A session is one client's. A client that goes on under a new process name has its own still.
func TestTwoClientsMayNotNameOneSession(t *testing.T) {
	for name, test := range map[string]struct{ text, names string }{
		"granted": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=s
			1.2 b acquire h2
			1.3 b acquire:ok h2 token=2 session=s`, "a b"},
		"leased": {`
			1.0 a lease:ok session=s ttl=2 seen=1
			1.1 b lease:ok session=s ttl=2 seen=1`, "a b"},
		"lost": {`
			1.0 a lease:ok session=s ttl=2 seen=1
			1.1 b lost session=s`, "a b"},
		"its own, under a new process": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=s
			1.2 a.2 acquire h2
			1.3 a.2 acquire:ok h2 token=2 session=s`, ""},
	} {
		_, _, err := Check(record(t, plainPlan(), test.text), Options{})
		if errors.Is(err, history.ErrMalformed) != (test.names != "") {
			t.Errorf("%s: %v", name, err)
		}
		for _, who := range strings.Fields(test.names) {
			if err == nil || !strings.Contains(err.Error(), "client "+who) {
				t.Errorf("%s: %v does not name %s", name, err, who)
			}
		}
	}
}
