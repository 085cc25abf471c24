//go:build linux

package agent

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// converse feeds an agent lines and returns what it answers.
func converse(t *testing.T, lines ...string) (Hello, []Answer) {
	t.Helper()
	var out strings.Builder
	if err := Serve(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	said := json.NewDecoder(strings.NewReader(out.String()))
	var hello Hello
	if err := said.Decode(&hello); err != nil {
		t.Fatal(err)
	}
	var answers []Answer
	for {
		var a Answer
		if err := said.Decode(&a); err == io.EOF {
			return hello, answers
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
}

func TestTheAgentSaysWhatItCan(t *testing.T) {
	hello, answers := converse(t)
	var all []string
	for _, a := range abilities {
		all = append(all, Requests(a.capability)...)
		if taken := slices.Sorted(maps.Keys(a.make().requests)); !slices.Equal(taken, slices.Sorted(slices.Values(a.requests))) {
			t.Errorf("for %s it takes %v, and its row has %v", a.capability, taken, a.requests)
		}
	}
	if want := slices.Sorted(slices.Values(all)); len(want) < 19 || !slices.Equal(hello.Can, want) {
		t.Errorf("it can %v, want %v", hello.Can, want)
	}
	if len(answers) > 0 {
		t.Errorf("answers to nothing: %+v", answers)
	}
	others := []history.Capability{"", history.CapabilityFailover, history.CapabilityDisk, history.CapabilityPower} // the service's, and its disks'
	for _, fault := range history.Faults() {
		if !slices.Contains(others, fault.Capability) && len(Requests(fault.Capability)) == 0 {
			t.Errorf("%s needs the capability %q, of which an agent has none", fault.Name, fault.Capability)
		}
	}
}

func TestWhatTheAgentCannotIsAnErrorByName(t *testing.T) {
	_, answers := converse(t,
		`{"id":1,"do":"weather.change"}`, `no request`, `{"id":3,"do":"clock.set"}`,
		`{"id":4,"do":"clock.reset","args":{"pid":"one"}}`, `{"id":5,"do":"clock.reset","args":{"pid":4194304}}`)
	want := []struct {
		id    int64
		error string
	}{
		{1, `cannot "weather.change"`}, {0, "this is no request"}, {3, "no process was named"}, {4, "arguments"}, {5, ""},
	}
	if len(answers) != len(want) {
		t.Fatalf("answers: %+v", answers)
	}
	for i, a := range answers {
		if a.ID != want[i].id || !strings.Contains(a.Error, want[i].error) || (want[i].error == "") != (a.Error == "") {
			t.Errorf("answer %d: %+v, want id %d and error %q", i, a, want[i].id, want[i].error)
		}
	}
}
