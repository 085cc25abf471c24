package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	twoHolders = `[{:type :invoke, :f :acquire, :process 0, :index 0}
{:type :ok, :f :acquire, :process 0, :index 1}
{:type :info, :f :start, :process :nemesis, :index 2}
{:type :invoke, :f :acquire, :process 1, :index 3}
{:type :invoke, :f :release, :process 0, :index 4}
{:type :fail, :f :release, :process 0, :error [:not-found "lease not found"], :index 5}
{:type :ok, :f :acquire, :process 1, :index 6}]`
	oneHolder = "0\t:invoke\t:acquire\tnil\n0\t:ok\t:acquire\tnil\n0\t:invoke\t:release\tnil\n1\t:invoke\t:acquire\tnil\n1\t:ok\t:acquire\tnil\n"
)

// threeRegisters is a file of three keys, one event a line: 1 is legal, 2 began as 9, and 3 was read as what was never written.
const threeRegisters = `0 :invoke :write [1 5]
0 :ok :write [1 5]
0 :invoke :read [1 nil]
0 :ok :read [1 5]
1 :invoke :read [2 nil]
1 :ok :read [2 9]
1 :invoke :write [3 5]
1 :ok :write [3 5]
1 :invoke :read [3 nil]
1 :ok :read [3 8]
1 :invoke :write [3 6]
1 :ok :write [3 6]
1 :invoke :read [3 nil]
1 :ok :read [3 6]
`

func foreignFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestForeignHistories(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		says []string
	}{
		"legal": {oneHolder, []string{"--model=mutex"}, exitPass,
			[]string{"✓ PASS: ", "as mutex: an order explains all 3 operations", "3 operations: 2 ok, 0 failed, 1 unknown.", "exact rule, confirmed by Porcupine"}},
		"illegal": {twoHolders, []string{"--model=mutex"}, exitViolation,
			[]string{"✗ UNSAFE: ", "2 acquires succeeded", "1 to 2  0        :acquire nil  ok", "4 to 7  1        :acquire nil  ok", "1 event of the nemesis"}},
		"failures read as unknown": {twoHolders, []string{"--model=owner-mutex", "--read-failed-as=info"}, exitPass,
			[]string{"Failed operations read as failed: violation; read as unknown: pass: the verdict depends on what the client reports as failed."}},
		"failures that make no difference": {oneHolder, []string{"--model=mutex", "--read-failed-as=info"}, exitPass,
			[]string{"the verdict does not depend on them"}},
		"nothing to judge": {"", []string{"--model=mutex"}, exitInconclusive,
			[]string{"? INCONCLUSIVE: ", "no acquire succeeded"}},
		"a register": {"0 :invoke :read nil\n0 :ok :read 7\n", []string{"--model=register"}, exitViolation,
			[]string{"process 0 read 7 although the register began as nil; if it began as 7, say --initial=7\n", "1 to 2  0        :read nil  ok 7"}},
		"a register that began as that": {"0 :invoke :read nil\n0 :ok :read 7\n", []string{"--model=register", "--initial=7"}, exitPass,
			[]string{"an order explains the one operation"}},
		"a register that began as another": {"0 :invoke :read nil\n0 :ok :read \"it's\"\n", []string{"--model=cas-register", "--initial=7.0"}, exitViolation,
			[]string{`although the register began as 7.0; if it began as "it's", say --initial='"it'\''s"'`}},
		"a read that no initial value explains": {"0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read 7\n", []string{"--model=register"}, exitViolation,
			[]string{"1 operation that no order of a register explains"}},
		"several locks": {"0 :invoke :acquire [a nil]\n0 :ok :acquire [a nil]\n1 :invoke :acquire [b nil]\n1 :ok :acquire [b nil]\n", []string{"--model=mutex"}, exitPass,
			[]string{"as mutex: an order explains all 2 operations of 2 keys, each key by itself\n"}},
		"one of several registers": {threeRegisters, []string{"--model=register"}, exitViolation,
			[]string{"as register: key 2: process 1 read 9 although the register began as nil; if it began as 9, say --initial=9 (2 of 3 keys are violated)\n",
				"5 to 6  1        :read nil  ok 9", "Other keys that are violated:\n  key 3: 1 operation that no order", "7 operations: 7 ok"}},
		"several registers that began as that": {strings.ReplaceAll(threeRegisters, "8", "5"), []string{"--model=register", "--initial=9"}, exitPass,
			[]string{"an order explains all 7 operations of 3 keys"}},
		"keys without anything to judge": {"0 :invoke :write [1 5]\n0 :ok :write [1 5]\n0 :invoke :read [2 nil]\n0 :info :read [2 nil]\n", []string{"--model=register"}, exitInconclusive,
			[]string{"key 1: no read and no compare-and-set found a value: there is nothing to judge (2 of 2 keys have no verdict)"}},
		"a key without anything to judge": {"0 :invoke :write [1 5]\n0 :ok :write [1 5]\n0 :invoke :read [2 nil]\n0 :ok :read [2 6]\n", []string{"--model=register", "--initial=6"}, exitPass,
			[]string{"an order explains all 2 operations of 2 keys, each key by itself; nothing to judge in 1 of them: 1\n"}},
		"the other reading of a key": {"0 :invoke :acquire [a nil]\n0 :ok :acquire [a nil]\n0 :invoke :release [a nil]\n0 :fail :release [a nil]\n1 :invoke :acquire [a nil]\n1 :ok :acquire [a nil]\n" +
			"2 :invoke :acquire [b nil]\n2 :ok :acquire [b nil]\n3 :invoke :acquire [b nil]\n3 :ok :acquire [b nil]\n", []string{"--model=mutex", "--read-failed-as=info"}, exitViolation,
			[]string{"key b: ", "the verdict does not depend on them, but that of 1 key does: a."}},
	} {
		t.Run(name, func(t *testing.T) {
			path := foreignFile(t, c.text)
			got := lockcheck(t, append([]string{"check", "--format=jepsen", path}, c.args...)...)
			if got.code != c.code || got.stderr != "" {
				t.Errorf("exit code %d, want %d; %s", got.code, c.code, got.stderr)
			}
			for _, say := range c.says {
				if !strings.Contains(got.stdout, say) {
					t.Errorf("it does not say %q:\n%s", say, got.stdout)
				}
			}
			quiet := lockcheck(t, append([]string{"check", "--format=jepsen", "--quiet", path}, c.args...)...)
			first, _, _ := strings.Cut(got.stdout, "\n")
			if quiet.stdout != first+"\n" || quiet.code != c.code {
				t.Errorf("quiet: %+v", quiet)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

func TestForeignJSON(t *testing.T) {
	path := foreignFile(t, twoHolders)
	got := lockcheck(t, "check", "--format=jepsen", "--model=mutex", "--json", path)
	var r foreignResults
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || got.code != exitViolation || got.stderr != "" {
		t.Fatalf("%v %+v", err, got)
	}
	want := []foreignOperation{{1, 2, "0", "ok", "acquire", "nil", "nil"}, {4, 7, "1", "ok", "acquire", "nil", "nil"}}
	if r.Verdict != "violation" || r.File != path || r.Form != "EDN" || r.Model != "mutex" || !r.Exact || r.ConfirmedBy != "porcupine" ||
		!slices.Equal(r.Counterexample, want) || r.Operations != (foreignCounts{3, 2, 1, 0}) || r.NemesisEvents != 1 || r.Readings != nil {
		t.Errorf("%+v", r)
	}
	if again := lockcheck(t, "check", "--format=jepsen", "--model=mutex", "--json", path); again.stdout != got.stdout {
		t.Errorf("twice:\n%s\n%s", got.stdout, again.stdout)
	}
	got = lockcheck(t, "check", "--format=jepsen", "--model=mutex", "--json", "--read-failed-as=info", path)
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || r.Readings == nil || *r.Readings != (foreignReadings{"violation", "pass", true}) || r.ReadFailedAs != "info" || r.Verdict != "pass" {
		t.Errorf("%v %+v", err, r)
	}
}

func TestForeignJSONOfKeys(t *testing.T) {
	got := lockcheck(t, "check", "--format=jepsen", "--model=register", "--json", "--read-failed-as=info", foreignFile(t, threeRegisters+"2 :invoke :write [4 1]\n2 :fail :write [4 1]\n"))
	var r foreignResults
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || got.code != exitViolation || got.stderr != "" {
		t.Fatalf("%v %+v", err, got)
	}
	if !strings.HasPrefix(r.Reason, "key 2: process 1 read 9 ") || r.Initial != "nil" || r.Operations != (foreignCounts{8, 7, 0, 1}) || len(r.Keys) != 4 || r.Counterexample[0].Line != 5 {
		t.Fatalf("%+v", r)
	}
	want := []string{"1 pass 2", "2 violation 1", "3 violation 4", "4 n/a 1"}
	for i, k := range r.Keys {
		if is := fmt.Sprint(k.Key, " ", k.Verdict, " ", k.Operations.Total); is != want[i] || (k.Verdict == "violation") != (len(k.Counterexample) > 0) || k.Readings == nil {
			t.Errorf("%s; want %s (%+v)", is, want[i], k)
		}
	}
}

func TestForeignMistakes(t *testing.T) {
	jepsen := []string{"--format=jepsen", "--model=mutex"}
	for name, c := range map[string]struct {
		text string
		args []string
		says []string
	}{
		"unknown format":                {"", []string{"--format=csv", "--model=mutex"}, []string{`unknown format "csv"`, "lockcheck, jepsen"}},
		"unknown model":                 {"", []string{"--format=jepsen", "--model=queue"}, []string{`unknown model "queue"`, "mutex, owner-mutex, fenced-mutex, register, cas-register"}},
		"no model":                      {"", []string{"--format=jepsen"}, []string{"--model is missing", "cas-register"}},
		"a model for our own":           {"", []string{"--model=mutex"}, []string{"--model goes with --format=jepsen"}},
		"an initial value of our own":   {"", []string{"--initial=0"}, []string{"--initial goes with --format=jepsen"}},
		"an initial value of a lock":    {"", append(jepsen, "--initial=0"), []string{"--initial=0: the model mutex has no initial value: only registers have (register, cas-register)"}},
		"an initial value that is none": {"", []string{"--format=jepsen", "--model=register", "--initial=[1"}, []string{"--initial=[1 is no value in EDN: what is opened here is not closed"}},
		"two initial values":            {"", []string{"--format=jepsen", "--model=register", "--initial=1 2"}, []string{"--initial=1 2 is no value in EDN: more than one value"}},
		"no initial value":              {"", []string{"--format=jepsen", "--model=register", "--initial="}, []string{"is no value in EDN: no value"}},
		"a key missing":                 {"0 :invoke :acquire [a nil]\n0 :ok :acquire [a nil]\n0 :invoke :release nil\n", jepsen, []string{"/history:3: this :release has no key, but the :acquire of line 1 has one"}},
		"an answer of another key":      {"0 :invoke :acquire [a nil]\n0 :ok :acquire [b nil]\n", jepsen, []string{`/history:2: this :acquire was asked for the key "a" (line 1)`}},
		"keys that may be none":         {"0 :invoke :cas [1 [2 3]]\n0 :ok :cas [1 [2 3]]\n", []string{"--format=jepsen", "--model=cas-register"}, []string{"/history:1: the value of this :cas may be one value or [key value]", "split the file by key"}},
		"a key that repeats":            {"{:process 0, :type :invoke,\n :f :acquire, :f :acquire}", jepsen, []string{"/history:1: a map with the key :f twice"}},
		"unknown reading":               {"", append(jepsen, "--read-failed-as=ok"), []string{"unknown --read-failed-as=ok", "fail, info"}},
		"a property":                    {"", append(jepsen, "--property=liveness"), []string{"--property goes with --format=lockcheck"}},
		"half a recording":              {"", append(jepsen, "--partial"), []string{"--partial goes with --format=lockcheck"}},
		"bad syntax":                    {"[{:process 0\n :type :invoke, :f}\n]", jepsen, []string{"/history:1: a map with a key that has no value"}},
		"completed, not invoked":        {oneHolder + "7\t:ok\t:acquire\tnil\n", jepsen, []string{"/history:6: process 7 completes :acquire without having invoked it"}},
		"invoked twice":                 {oneHolder + "0\t:invoke\t:acquire\tnil\n", jepsen, []string{"/history:6: process 0 invokes :acquire while its :release of line 3"}},
		"operations of another":         {"0 :invoke :read nil\n", jepsen, []string{`/history:1: operations that the model mutex does not know: ":read" (1)`}},
		"a token that is none":          {"0 :invoke :acquire nil\n0 :ok :acquire 1.5\n", []string{"--format=jepsen", "--model=fenced-mutex"}, []string{"/history:1: the token"}},
		"wrong, with JSON wanted":       {"]", append(jepsen, "--json"), []string{"/history:1: ']' closes nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := lockcheck(t, append([]string{"check", foreignFile(t, c.text)}, c.args...)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", got.code, exitUsage, got.stdout)
			}
			for _, say := range c.says {
				if !strings.Contains(got.stderr, say) {
					t.Errorf("it does not say %q: %s", say, got.stderr)
				}
			}
		})
	}
	for path, say := range map[string]string{t.TempDir(): "is a directory; --format=jepsen takes a file", "no/such/file": "no/such/file"} {
		if got := lockcheck(t, append([]string{"check", path}, jepsen...)...); got.code != exitUsage || !strings.Contains(got.stderr, say) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// What a file says does not steer the terminal.
func TestForeignTextIsShownAsText(t *testing.T) {
	path := foreignFile(t, "[{:process \"\\u001b[31mred\", :type :invoke, :f :read}\n{:process \"\\u001b[31mred\", :type :ok, :f :read, :value \"\\u001b]0;title\\u0007\\u202e\"}]")
	got := lockcheck(t, "check", "--format=jepsen", "--model=register", path)
	if got.code != exitViolation || strings.ContainsAny(got.stdout, "\x1b\x07\u202e") || !strings.Contains(got.stdout, "red") {
		t.Errorf("%+v", got)
	}
}
