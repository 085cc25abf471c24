package checker

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func TestContradictionsAreDefects(t *testing.T) {
	const grant = "1.0 a acquire h1\n1.1 a acquire:ok h1 token=1\n"
	for name, test := range map[string]struct{ text, want string }{
		"an acknowledged write that the log lacks": {grant + "1.2 a write h1 value=v1\n1.3 a write:ok h1\n1.4 a read h1\n1.5 @ read h1", "write 2 of hold h1 was answered ok (event 3), but the resource's log does not hold it"},
		"an acknowledged read that the log lacks":  {grant + "1.2 a read h1\n1.3 a read:ok h1\n1.4 a read h1\n1.5 @ read h1", "read 2 of hold h1 was answered ok"},
		"an acknowledged write that was rejected":  {grant + "1.2 a write h1 value=v1\n1.2 @ write h1 rejected\n1.3 a write:ok h1", "was answered ok"},
		"a failed write that was applied":          {grant + "1.2 a write h1 value=v1\n1.2 @ write h1\n1.3 a write:fail h1", "reported as certainly not done"},
		"a rejection that the log lacks":           {grant + "1.2 a write h1 value=v1\n1.3 a write:fail h1 code=rejected", "reported as rejected"},
		"a read that returned something else":      {grant + "1.2 a read h1\n1.2 @ read h1\n1.3 a read:ok h1 value=x", `returned "x"`},
		"a value written twice":                    {grant + "1.2 a write h1 value=v1\n1.3 a write h1 value=v1", `writes the value "v1" to k, which is not unique`},
		"a base that no client wrote":              {grant + "1.2 a write h1 value=v1 base=v0\n1.3 @ write h1", `built on "v0", a value that no client had written`},
		"handled twice":                            {grant + "1.2 a write h1 value=v1\n1.3 @ write h1\n1.4 @ write h1", "request 2 was handled twice"},
		"completed twice":                          {grant + "1.2 a acquire:ok h1", "event 3 completes operation 1 a second time"},
		"a hold of another client":                 {grant + "1.2 b release h1", "names hold h1 of client a"},
		"a hold acquired twice":                    {grant + "1.2 a acquire h1", "acquires hold h1 a second time"},
		"a fault healed that never began":          {grant + "1.2 nemesis pause:heal 1 target=a", "belongs to fault 1000001, which never began"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Check(record(t, plainPlan(), test.text), Options{})
			if !errors.Is(err, model.ErrDefect) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// What the log shows of a client's answers and requests is told from what only lockcheck can have done.
func TestContradictionsOfClients(t *testing.T) {
	const grant = "1.0 a acquire h1\n1.1 a acquire:ok h1 token=1\n"
	early := grant + "1.2 a write h1 value=v1\n1.3 a write:ok h1\n1.4 @ write h1\n1.5 a read h1\n1.6 @ read h1\n1.7 a read:ok h1"
	elsewhere := plainPlan()
	elsewhere.SameKernel = false
	for name, test := range map[string]struct {
		plan   history.Plan
		text   string
		client bool
		want   string // "" if nothing is wrong
	}{
		"answered before it was done": {plainPlan(), early, true, "write 2 of hold h1 was answered ok at 1.300 s (event 3), before the resource handled it at 1.400 s (seq 1)"},
		"by another clock":            {elsewhere, early, false, ""},
		"never done":                  {plainPlan(), grant + "1.2 a write h1 value=v1\n1.3 a write:ok h1\n1.4 a read h1\n1.5 @ read h1", true, "but the resource's log does not hold it"},
		"done twice":                  {plainPlan(), grant + "1.2 a write h1 value=v1\n1.3 @ write h1\n1.4 @ write h1", false, "request 2 was handled twice"},
		"by the harness":              {plainPlan(), grant + "1.2 a acquire h1", false, "acquires hold h1 a second time"},
	} {
		_, _, err := Check(record(t, test.plan, test.text), Options{})
		switch {
		case test.want == "" && errors.Is(err, model.ErrDefect), test.want != "" && (!errors.Is(err, model.ErrDefect) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v; want %q", name, err, test.want)
		case errors.Is(err, model.ErrClient) != test.client:
			t.Errorf("%s: %v: the client's: %v", name, err, !test.client)
		}
	}
}

func TestEventsOfNothingBegunAreDefects(t *testing.T) {
	for name, e := range map[string]history.Event{
		"completion": {TimeNS: 1, Process: "a", Client: "a", Type: history.OK, F: history.Acquire, Op: 1, Hold: "h"},
		"release":    {TimeNS: 1, Process: "a", Client: "a", Type: history.Invoke, F: history.Release, Op: 1, Hold: "h"},
		"lost":       {TimeNS: 1, Process: "a", Client: "a", Type: history.Info, F: history.Lost, Hold: "h"},
		"probe":      {TimeNS: 1, Process: "harness", Type: history.OK, F: history.Probe, Op: 1},
	} {
		rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return []history.Event{e}, nil })
		if _, _, err := Check(rec, Options{}); !errors.Is(err, model.ErrDefect) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) {
		return []history.Event{{TimeNS: 1, Process: "harness", Type: history.Info, F: history.Phase, Value: history.PhaseEnd}},
			[]history.Request{{Seq: 1, Request: "9", Key: "k", Kind: history.KindRead, Hold: "h", Outcome: history.Applied}}
	})
	if _, _, err := Check(rec, Options{}); !errors.Is(err, model.ErrDefect) {
		t.Errorf("stray request: %v", err)
	}
}

// A harness that is killed loses the end of its history, not of the resource's log.
func TestRequestsBeyondACutHistoryAreLeftOut(t *testing.T) {
	events, requests := parse(t, `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 a write h1 value=v1
		1.3 @ write h1
		1.4 a write:ok h1
		1.5 a write h1 value=v2 base=v1
		1.6 @ write h1
		cut`)
	requests[1].Request = "77"
	rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return events, requests })
	result, model, err := Check(rec, Options{})
	if err != nil || namesViolated(result) != "" || model.Requests.Len() != 1 {
		t.Errorf("%v, %d requests, violated: %s", err, model.Requests.Len(), namesViolated(result))
	}
}

func TestMistakesInFilesAreHandedOn(t *testing.T) {
	rec := model.Recording{Plan: plainPlan(), Events: history.Events(strings.NewReader("{}\n"), "history.jsonl"), Requests: history.Requests(strings.NewReader(""), "resource.jsonl")}
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) || errors.Is(err, model.ErrDefect) || !strings.HasPrefix(err.Error(), "history.jsonl:1:") {
		t.Errorf("got %v", err)
	}
	rec.Events = history.Events(strings.NewReader(""), "history.jsonl")
	rec.Requests = history.Requests(strings.NewReader("{}\n"), "resource.jsonl")
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) || !strings.HasPrefix(err.Error(), "resource.jsonl:1:") {
		t.Errorf("got %v", err)
	}
	rec.Plan.Tokens = "?"
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

// A number that no operation can have is damage to the file, and no request that lockcheck lost.
func TestARequestNumberThatNoOperationCanHave(t *testing.T) {
	rec := record(t, plainPlan(), "1.0 a acquire h1\n1.1 a acquire:ok h1 token=1\n1.2 a write h1 value=v1\n1.3 @ write h1\n1.4 a write:ok h1")
	requests := rec.Requests
	rec.Requests = func(yield func(history.Request, error) bool) {
		for q, err := range requests {
			q.Request = strings.Repeat("9", 400)
			if !yield(q, err) {
				return
			}
		}
	}
	_, _, err := Check(rec, Options{})
	if !errors.Is(err, history.ErrMalformed) || errors.Is(err, model.ErrDefect) || len(err.Error()) > 300 {
		t.Errorf("%v", err)
	}
}
