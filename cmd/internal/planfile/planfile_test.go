package planfile

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
)

const good = `{
  "version": 1,
  "seed": 7,
  "tokens": "ordered",
  "command": ["lockcheck", "run", "--backend=etcd"],
  "until": ["violation"],
  "schedule": [
    {"after": "1s", "steps": [
      {"fault": "pause", "target": "holder", "trigger": "work", "into_work": 0.25, "for": "1.5ttl", "pick": "18446744073709551615"},
      {"fault": "délai", "target": "one"}
    ]}
  ]
}`

// It reads what history.ReadPlan reads, and alike.
func TestAPlanIsReadAsRecordingsAre(t *testing.T) {
	plan := history.Plan{
		Version: history.FormatVersion, Tokens: history.TokensNone, Seed: -3, Command: []string{"lockcheck", "run"}, SameKernel: true,
		Exposure: []history.Requirement{{Name: "pauses", Min: 1}}, Steps: []string{"after 1s"}, Settings: map[string]string{"a": "<1>"},
		Schedule: []history.Round{{After: "1s", Steps: []history.Step{{Fault: "power", IntoWork: 0.1234567890123456, Words: []string{"torn"}, Pick: 1<<64 - 1}}}},
		Expected: &history.Expected{Verdicts: map[string][]string{"stale-write": {"pass"}}}, Images: []history.Image{{Use: "servers"}},
		Attached: &history.Attached{Endpoints: []history.AttachedEndpoint{{Node: "n1"}}, MaxRate: 5}, Resource: "./mine", UnderTest: &history.UnderTest{Software: "x"},
	}
	plan.Exposure = append(plan.Exposure, plan.Requirements()...) // which ReadPlan would add
	var text bytes.Buffer
	if err := history.WritePlan(&text, plan); err != nil {
		t.Fatal(err)
	}
	want, err := history.ReadPlan(bytes.NewReader(text.Bytes()), "plan.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := read("plan.json", text.Bytes())
	if err != nil || !reflect.DeepEqual(f.Plan, want) {
		t.Errorf("%v: read\n%+v\nwant\n%+v", err, f.Plan, want)
	}
}

// A mistake is told with file, line and column.
func TestMistakesHavePlaces(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"no JSON":                 {`"seed": 7`, `"seed": seven`, "p.json:3:11: this is no JSON"},
		"it ends":                 {"\n}", "", "this is no JSON: it ends too early"},
		"more":                    {"]\n}", "]\n}\n{}", "p.json:14:1: this is no JSON: invalid character '{' after top-level value"},
		"an unknown field":        {`"seed": 7`, `"sede": 7`, `p.json:3:3: the plan: there is no field "sede" (did you mean seed?)`},
		"of a step":               {`"target": "holder"`, `"targt": "holder"`, `p.json:9:26: steps, 1: there is no field "targt" (did you mean target?); there are: fault, target, peer`},
		"a field twice":           {`"seed": 7`, `"seed": 7, "seed": 8`, "p.json:3:14: seed is there twice"},
		"a text for a number":     {`"seed": 7`, `"seed": "7"`, `p.json:3:11: seed is a whole number, not the text "7"`},
		"a number for a text":     {`"1.5ttl"`, `1.5`, "p.json:9:91: for is a text, not the number 1.5"},
		"no whole number":         {`"seed": 7`, `"seed": 7.5`, "p.json:3:11: seed is a whole number, not the number 7.5"},
		"a choice as a number":    {`"18446744073709551615"`, `7`, `pick is a whole number in quotes, such as "7", not the number 7`},
		"an object for a list":    {`["violation"]`, `{}`, "p.json:6:12: until is a list, not an object"},
		"null":                    {`"1s"`, `null`, "p.json:8:15: after is a text, not null"},
		"a column counts letters": {`"target": "one"`, `"taget": "one"`, `p.json:10:26: steps, 2: there is no field "taget"`},
		"another version":         {`"version": 1`, `"version": 2`, "p.json:2:14: the plan's version is 2"},
		"another command":         {`"run", "--b`, `"plan", "--b`, "p.json:5:14: the plan does not say which command"},
		"an excerpt":              {`"seed": 7`, `"excerpt": {"finding": "x"}`, "p.json:3:14: this is an excerpt"},
		"deep":                    {`"seed": 7`, `"host": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "more is nested"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		_, err := read("p.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		}
	}
	// All mistakes at once.
	_, err := read("p.json", []byte(strings.NewReplacer(`"seed"`, `"sede"`, `"holder"`, "3").Replace(good)))
	if wrong := (config.Mistakes{}); !errors.As(err, &wrong) || len(wrong) != 2 {
		t.Errorf("two mistakes: %v", err)
	}
}

// What the schedule has wrong is told where the field is, or where the step is that should have it.
func TestMistakesOfAScheduleHavePlaces(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"of a field":         {`"holder"`, `"holdr"`, "p.json:9:36: "},
		"of a missing field": {`, "for": "1.5ttl"`, ``, "p.json:9:7: how long it lasts is missing"},
	} {
		text := strings.Replace(strings.Replace(good, `,
      {"fault": "délai", "target": "one"}`, "", 1), c.from, c.to, 1)
		f, err := read("p.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = nemesis.FromSchedule(f.Plan.Schedule, nemesis.Conditions{TTL: 2e9})
		if err = f.Misplaced(err); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %s", name, err, c.says)
		}
	}
}

// What follows from the command, or from the schedule, cannot be changed alone.
func TestWhatFollowsCannotBeChangedAlone(t *testing.T) {
	f, err := read("p.json", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	made := f.Plan
	if wrong := f.Differences(made); len(wrong) > 0 {
		t.Errorf("a plan differs from itself: %v", wrong)
	}
	made.Seed = 8
	if wrong := f.Differences(made); len(wrong) != 1 || !strings.Contains(wrong.Error(), "p.json:3:11: seed follows from command, which makes it 8") {
		t.Errorf("another seed: %v", wrong)
	}
	f, err = read("p.json", []byte(strings.Replace(good, `"seed": 7`, `"steps": ["a"], "exposure": [{"name": "x", "min": 1}]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	is := history.Plan{Steps: []string{"a"}, Exposure: []history.Requirement{{Name: "x", Min: 1}}}
	for name, pair := range map[string][2]history.Plan{"as it is": {is, {}}, "as it was": {{}, is}} {
		if wrong := f.Stale(pair[0], pair[1]); len(wrong) > 0 {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	if wrong := f.Stale(history.Plan{}, history.Plan{}); len(wrong) != 2 {
		t.Errorf("neither: %v", wrong)
	}
}
