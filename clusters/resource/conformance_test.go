//go:build unix && e2e

package resource_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// An author's own resource, tested as README.md says.
var resourceFlag = flag.String("resource", "", "command, or URL, of the resource to test for conformance")

func TestConformance(t *testing.T) {
	what := strings.Fields(*resourceFlag)
	if len(what) == 0 {
		what = example(t)
	}
	for _, wrong := range conformance(newSubject(t, what)) {
		t.Error(wrong)
	}
}

// example is the command of README.md's resource, with parts of it replaced: pairs of what was and what is instead.
func example(t *testing.T, changes ...string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is not there: the example of README.md cannot be tested; install python3")
		}
		t.Skip("python3 is not there: the example of README.md is NOT tested")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n```python\n")
	text, _, found := strings.Cut(text, "\n```\n")
	if !found {
		t.Fatal("README.md has no example")
	}
	for pair := range slices.Chunk(changes, 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("README.md's example does not have %q once", pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	program := filepath.Join(t.TempDir(), "example.py")
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{python, program}
}

// conformance says what a resource does wrong.
func conformance(s *subject) []string {
	s.registers()
	s.nonsense()
	compares, _ := history.ComparisonNamed(s.hello.Compares)
	switch compares {
	case history.CompareTokens:
		s.tokens()
	case history.CompareBases:
		s.bases()
	}
	s.crowd(compares, false)
	if s.hello.IdempotencyKeys {
		s.keys(compares)
		s.crowd(compares, true)
	}
	if s.command != nil {
		s.survival(compares)
	}
	return s.wrong
}

func (s *subject) registers() {
	const key = "registers"
	s.ask(history.KindRead, resource.Ask{Key: key, Token: "5"}, applied(""), "the initial value is the empty one")
	first := s.ask(history.KindWrite, resource.Ask{Key: key, Token: "5", Value: "v1"}, applied("v1"), "a write is answered with what it wrote")
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "5", Value: "v2", Base: "v1"}, applied("v2"), "the next write, built on the first")
	s.ask(history.KindWrite, first, applied("v1"), "a repetition gets the first answer again")
	s.ask(history.KindRead, resource.Ask{Key: key, Token: "5"}, applied("v2"), "a repetition does nothing, and a read finds what was written last")
	s.ask(history.KindRead, resource.Ask{Key: key + "-2", Token: "5"}, applied(""), "another key has its own value")
	s.ask(history.KindRead, resource.Ask{Key: key, Hold: "without"}, applied("v2"), "a request without a token has nothing to compare, and is accepted")
}

func (s *subject) nonsense() {
	before := len(s.log())
	for what, body := range map[string]string{
		"no JSON":                   `{"request":`,
		"no key":                    `{"request":"900001","hold":"h"}`,
		"no request":                `{"key":"` + s.prefix + `nonsense","hold":"h"}`,
		"a token that is no number": `{"request":"900002","hold":"h","key":"` + s.prefix + `nonsense","token":"seven"}`,
	} {
		if got := s.post("/read", body); got.status != refused.status {
			s.complain("a request that makes no sense (%s) is refused\n  POST /read %s\n  want 400\n  got  %s", what, body, got.raw)
		}
	}
	if after := len(s.log()); after != before {
		s.complain("a request that makes no sense leaves no line in the log: there were %d before, and %d after", before, after)
	}
}

// tokens is what a fenced resource gets wrong.
func (s *subject) tokens() {
	const key = "tokens"
	on := func(token string) resource.Ask { return resource.Ask{Key: key, Token: token} }
	write := func(token, value string) resource.Ask { return resource.Ask{Key: key, Token: token, Value: value} }
	s.ask(history.KindWrite, write("9", "t1"), applied("t1"), "the first token")
	s.ask(history.KindWrite, write("9", "t2"), applied("t2"), "an equal token is accepted: a holder makes more than one request")
	s.ask(history.KindWrite, write("10", "t3"), applied("t3"), "10 is greater than 9: tokens are numbers, not text")
	s.ask(history.KindRead, on("12"), applied("t3"), "a read with a greater token is accepted")
	s.ask(history.KindWrite, write("11", "t4"), rejected, "a read raises the mark, too: an older write must not slip in before the reader's first write")
	s.ask(history.KindRead, on("11"), rejected, "a read with a lower token is rejected: what it finds it may build on")
	s.ask(history.KindWrite, write("11", "t5"), rejected, "a rejected request lowers nothing")
	s.ask(history.KindWrite, write("12", "t6"), applied("t6"), "a rejected request raises nothing: the highest token that was served is accepted")
	s.ask(history.KindRead, resource.Ask{Key: key + "-2", Token: "1"}, applied(""), "each key has its own highest token")
	s.ask(history.KindWrite, write("36893488147419103232", "t7"), applied("t7"), "tokens go beyond 64 bits")
	s.ask(history.KindWrite, write("36893488147419103231", "t8"), rejected, "tokens that differ in the last of twenty digits are compared exactly")
	s.ask(history.KindRead, on("36893488147419103232"), applied("t7"), "a rejected write wrote nothing")
}

func (s *subject) bases() {
	const key = "bases"
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "5", Value: "b1"}, applied("b1"), "built on the initial value")
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "6", Value: "b2", Base: "b1"}, applied("b2"), "built on the current value")
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "7", Value: "b3", Base: "b1"}, rejected, "built on an old value")
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "7", Value: "b4"}, rejected, "built on the initial value, which it is no more")
	s.ask(history.KindRead, resource.Ask{Key: key, Token: "1"}, applied("b2"), "a read has no base, and is accepted; a rejected write wrote nothing")
}

// survival is what a restart must not change.
func (s *subject) survival(compares history.Comparison) {
	const key = "survival"
	s.ask(history.KindWrite, resource.Ask{Key: key, Token: "20", Value: "s1"}, applied("s1"), "a write before the restart")
	before := s.log()
	once := resource.Ask{Key: key + "-keys", IdempotencyKey: "1", Token: "20", Value: "1/a"}
	if s.hello.IdempotencyKeys {
		s.ask(history.KindWrite, once, applied("1/a"), "a write with an idempotency key before the restart")
		before = s.log()
	}
	s.restart()
	if after := s.log(); !slices.Equal(before, after) {
		s.complain("after SIGKILL and a restart the log is what it was: there were %d lines, and now are %d", len(before), len(after))
	}
	if compares == history.CompareTokens {
		s.ask(history.KindWrite, resource.Ask{Key: key, Token: "19", Value: "s2"}, rejected, "after SIGKILL and a restart the highest token is remembered")
	}
	s.ask(history.KindRead, resource.Ask{Key: key, Token: "20"}, applied("s1"), "after SIGKILL and a restart the value is there")
	if s.hello.IdempotencyKeys {
		once.Value = "1/b"
		s.ask(history.KindWrite, once, applied("1/a"), "after SIGKILL and a restart idempotency keys are remembered")
	}
}

// Each way to get fencing or idempotency keys wrong is found: changes of the example, by name, in pairs of what is replaced and by what.
func TestStoragesThatDoNotConform(t *testing.T) {
	text, err := os.ReadFile("testdata/mutants.json")
	if err != nil {
		t.Fatal(err)
	}
	var mutants map[string][]string
	if err := json.Unmarshal(text, &mutants); err != nil {
		t.Fatal(err)
	}
	says := map[string]string{
		"tokens compared as text":   "10 is greater than 9",
		"tokens compared as floats": "are compared exactly",
		"equal tokens rejected":     "an equal token is accepted",
		"only writes checked":       "a read raises the mark, too",
		"one mark for all keys":     "each key has its own highest token",
		"a mark in memory":          "the highest token is remembered",
		"a rejected request marks":  "a rejected request lowers nothing",
		"a rejected request raises": "a rejected request raises nothing",
		"check, then write":         "8 clients at once",
		"an empty log":              "the resource's log does not hold it",

		"idempotency keys in memory":         "idempotency keys are remembered",
		"one key space for all registers":    "each key has its own idempotency keys",
		"check the key, then write":          "8 clients at once, with idempotency keys: the resource applied",
		"a rejected request uses the key up": "a rejected write uses no idempotency key up",
		"a duplicate is compared":            "is answered before tokens or bases are compared",
		"a duplicate is answered as applied": "a second write with an idempotency key is answered as the first",
	}
	for name, changes := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := conformance(newSubject(t, example(t, changes...)))
			if says[name] == "" || !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, says[name]) }) {
				t.Errorf("it is not said that %q; only\n%s", says[name], strings.Join(wrong, "\n"))
			}
		})
	}
}
