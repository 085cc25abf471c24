//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// ofUsers is a lock client as users write one: the complete program that the protocol's page begins with, with a hand-written lock of Redis in the place of
// its toy service, and with pairs of texts of which the second replaces the first.
func ofUsers(t *testing.T, changes ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../clusters/client/example/client.py")
	if err != nil {
		t.Fatal(err)
	}
	grant, err := os.ReadFile("testdata/jobs/grant.py")
	if err != nil {
		t.Fatal(err)
	}
	toy := regexp.MustCompile(`(?s)\nclass Grant:\n.*?\n\n`).FindString(string(text))
	return "--client=" + changed(t, string(text), "client.py", slices.Concat([]string{toy, "\n" + string(grant) + "\n",
		`"tokens": "ordered",`, `"tokens": "none", "reason": "the record has a random value",`}, changes)...)
}

// What a program does beside what it is asked to, or says without having done it, is its author's mistake: it is told as that, and is no verdict
// about the lock.
func TestProgramsThatDoOtherThanTheyAreAsked(t *testing.T) {
	t.Parallel()
	const (
		record = `    seen, answer = ping, post("/write", c, value=c["value"], base=c.get("base", ""), **key)` + "\n"
		done   = `    with speak: say(msg="ok", op=c["op"], seen=seen, held=c["hold"] in flags, **({"value": answer.get("value", "")} if key else {}))` + "\n"
	)
	for name, row := range map[string]struct {
		changes []string
		says    string
	}{
		"asks whether it ran before it has the lock": {[]string{"def acquire(c):\n", `def acquire(c):
    body = {"request": str(c["op"]), "hold": c["hold"], "key": c["key"]}
    http.open(urllib.request.Request(init["resource"] + "/read", json.dumps(body).encode()))
`}, "belongs to no read or write of the history"},
		"runs two slots under one grant": {[]string{record, record + `    slot = int(c["value"].split("/")[0])
    post("/write", {**c, "op": c["op"] + 1000000}, value="%d/own%d" % (slot + 1, c["op"]), base=c["value"])
`}, "belongs to no read or write of the history"},
		"records late": {[]string{record + done, "    seen, answer, grant = ping, {}, grants[c[\"hold\"]]\n" + done + `    time.sleep(0.5)
    grants[c["hold"]] = grant
    post("/write", c, value=c["value"], base=c.get("base", ""))
`}, "before the resource handled it"},
		"says that it has recorded":  {[]string{record, "    seen, answer = ping, {}\n"}, "but the resource's log does not hold it"},
		"knows better what ran last": {[]string{`value=answer.get("value", ""), held`, `value="", held`}, "but the resource's log says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--backend=redis", "--nodes=1", "--provider=local", "--workload=jobs", "--nemesis=none", "--time-limit=4s", ofUsers(t, row.changes...)}
			o := lockcheck(t, program, args...)
			endsWith(t, o, 64, "breaks the client protocol", row.says)
			if len(o.results.Properties) > 0 {
				t.Errorf("a verdict: %v", o.violated())
			}
		})
	}
}

// A lock that ends with nothing but its holder's release is taken for ever once that holder was killed, and no job is run any more; the same
// lock does its work as long as no client dies. A client that is granted the lock and never runs a job is found, too. A slot is missed after
// 30 s in which neither the machine nor the harness stood still: on a busy one that is a part of the load.
func TestJobsThatNoClientRuns(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		changes []string
		nemesis string
		limit   string
		missed  model.Verdict
		twice   model.Verdict // double-execution: no rule judges it where no client recorded a slot (J9)
		summary string
		cause   string
	}{
		{"a lock without expiry, its holder killed", nil, "kill:holder@work", "90s", model.Violation, model.Pass, `although c\d+(-\d+)? waited for the lock`, "kill of holder"},
		{"a lock without expiry", nil, "none", "45s", model.Pass, model.Pass, "", ""},
		{"granted, and never run", []string{`if c["guard"] != "none": look(c)`, `raise Definite("guard", "it is never sure enough")`}, "none", "90s",
			model.Violation, model.Inconclusive, `although the lock was granted [\d,]+ times`, "unexplained"},
	} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", row.name, seed), func(t *testing.T) {
				t.Parallel()
				o := lockcheck(t, program, "run", "--backend=redis", "--nodes=1", "--provider=local", "--workload=jobs", "--nemesis="+row.nemesis,
					"--time-limit="+row.limit, fmt.Sprintf("--seed=%d", seed), ofUsers(t, row.changes...))
				p := o.of(t, model.MissedExecution)
				if p.Verdict != row.missed {
					t.Fatalf("missed-execution is %s, want %s: %s", p.Verdict, row.missed, p.Reason)
				}
				if want := map[model.Verdict]int{model.Pass: 0, model.Violation: 1}[row.missed]; o.code != want {
					t.Errorf("exit %d, want %d; violated: %v", o.code, want, o.violated())
				}
				if twice := o.of(t, model.DoubleExecution); twice.Verdict != row.twice {
					t.Errorf("double-execution is %s, want %s: %s", twice.Verdict, row.twice, twice.Reason)
				}
				if row.missed == model.Violation {
					f := p.Findings[0]
					if !regexp.MustCompile(row.summary).MatchString(f.Summary) || f.Cause.Kind != row.cause || !strings.Contains(storyOf(f), "it should have been run by now") {
						t.Errorf("%s: %s\n%s", f.Summary, f.Cause.Kind, storyOf(f))
					}
				}
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}
