package jepsen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"lockcheck/checker/history"
)

func spell(h *History) string {
	var s strings.Builder
	for _, op := range h.Operations {
		fmt.Fprintf(&s, "%s %s %s %s->%s %d-%d;", op.Process, op.F, op.Outcome, op.Input, op.Output, op.Line, op.EndLine)
	}
	return s.String()
}

// The same four events in every shape that Jepsen or its users write them in.
var shapes = map[string]string{
	"one vector": `[{:type :invoke, :f :acquire, :value nil, :process 0, :time 1, :index 0}
{:type :ok, :f :acquire, :value 7, :process 0, :time 2, :index 1}
{:process :nemesis, :type :info, :f :start, :value {:n1 #{"n2" "n3"}}, :index 2}
{:type :invoke, :f :release, :process 0, :time 9, :index 3}]`,
	"a list without commas": `({:type :invoke :f :acquire :process 0}
{:type :ok :f :acquire :value 7 :process 0}
{:process :nemesis :type :info :f nil}
{:type :invoke :f :release :process 0})`,
	"one map after the other": `{:type :invoke, :f :acquire, :process 0}
{:type :ok, :f :acquire, :value 7, :process 0}
{:process :nemesis, :type :invoke, :f :start, :value [1/2 \a "x"]}
{:type :invoke, :f :release, :process 0}
`,
	"records": `#jepsen.history.Op{:index 0, :time 1, :type :invoke, :process 0, :f :acquire, :value nil}
#jepsen.history.Op{:index 1, :time 2, :type :ok, :process 0, :f :acquire, :value 7}
#jepsen.history.Op{:index 2, :time 2, :type :info, :process :nemesis, :f :start, :value nil}
#jepsen.history.Op{:index 3, :time 3, :type :invoke, :process 0, :f :release, :value nil}`,
	"a tagged vector of records": `#jepsen.history.DenseHistory [#jepsen.history.Op{:type :invoke, :process 0, :f :acquire}
#knossos.op.Op{:type :ok, :process 0, :f :acquire, :value 7} ; a comment
#_{:type :ok, :process 0, :f :dropped} {:type :info, :process :nemesis, :f :start}
#_ 1 #_ [2] {:type :invoke, :process 0, :f :release}] ; the end
#_{:behind :it}`,
	"history.txt": "0\t:invoke\t:acquire\tnil\n0\t:ok\t:acquire\t7\n:nemesis\t:info\t:start\t{:n1 #{\"n2\"}}\tsome error\n0\t:invoke\t:release\tnil",
	"a log":       "INFO  jepsen.util - 0\t:invoke\t:acquire\tnil\nINFO  jepsen.util - 0\t:ok\t:acquire\t7\nINFO  jepsen.util - :nemesis\t:info\t:start\tnil\nINFO  jepsen.util - 0\t:invoke\t:release\tnil\n",
	"a log with dates and blanks": "INFO [2020-01-14 15:29:12,345] jepsen worker 0 - jepsen.util 0 :invoke :acquire nil\n" +
		"INFO [2020-01-14 15:29:12,346] jepsen worker 0 - jepsen.util 0 :ok :acquire 7\n" +
		"INFO [2020-01-14 15:29:12,347] jepsen nemesis - jepsen.util :nemesis :info :start nil\n" +
		"INFO [2020-01-14 15:29:12,348] jepsen worker 0 - jepsen.util 0 :invoke :release nil\n",
	"a log of today": "2024-08-20 06:34:55,123{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:acquire\tnil\n" +
		"2024-08-20 06:34:55,124{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:ok\t:acquire\t7\n" +
		"2024-08-20 06:34:55,124{GMT}\tINFO\t[jepsen nemesis] jepsen.util: :nemesis\t:info\t:start\tnil\n" +
		"2024-08-20 06:34:55,125{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:release\tnil\n",
}

func TestOneHistoryInEveryShape(t *testing.T) {
	want := "0 acquire ok nil->7 1-2;0 release info nil->nil 4-0;"
	for name, text := range shapes {
		for _, mark := range []string{"", "\xef\xbb\xbf"} {
			h, err := Read(strings.NewReader(mark+text), "h")
			if err != nil || spell(h) != want || h.Nemesis != 1 || h.Passed != 0 {
				t.Errorf("%s: %v\n%+v", name, err, h)
			}
		}
	}
}

func TestLinesOfALogThatAreNoOperations(t *testing.T) {
	h, err := Read(strings.NewReader("INFO [x] jepsen.core - Relative time begins now\n"+
		"INFO [x] jepsen.util - 0\t:invoke\t:acquire\tnil\n"+
		"WARN [x] jepsen.core - Process 0 crashed\njava.net.SocketTimeoutException: null\n\tat java.net.Socket.read(Socket.java:1)\n"+
		"INFO [x] jepsen.util - 0\t:info\t:acquire\tnil\tindeterminate: null\n"), "log")
	if err != nil || spell(h) != "0 acquire info nil->nil 2-6;" || h.Passed != 4 || h.Form != "log" {
		t.Fatalf("%+v %v", h, err)
	}
	if got := h.Operations[0]; got.Return != Never || got.Error.Text() != "indeterminate: null" {
		t.Errorf("%+v", got)
	}
}

func TestOutcomes(t *testing.T) {
	h, err := Read(strings.NewReader("a :invoke :x 1\nb :invoke :x 2\nc :invoke :x 3\na :fail :x 1 :no\nb :info :x :timed-out\nb :invoke :x 4\n"), "h")
	if err != nil || spell(h) != "a x fail 1->1 1-4;b x info 2->:timed-out 2-5;c x info 3->nil 3-0;b x info 4->nil 6-0;" {
		t.Fatalf("%s %v", spell(h), err)
	}
	other := FailedAsInfo(h.Operations)
	if other[0].Outcome != history.Info || other[0].Return != Never || h.Operations[0].Outcome != history.Fail {
		t.Errorf("%+v, of %+v", other[0], h.Operations[0])
	}
}

func TestWhatIsNoHistory(t *testing.T) {
	const invoke, ok = "{:process 0, :type :invoke, :f :read}\n", "{:process 0, :type :ok, :f :read}\n"
	for name, c := range map[string]struct{ text, want string }{
		"cut off":                         {"[" + invoke + "{:process 0, :type", "h:2: what is opened here is not closed by '}'"},
		"cut off between operations":      {"\n[" + invoke, "h:2: the history that is opened here is not closed by ']': the file is cut off"},
		"closed twice":                    {"[" + invoke + "]]", "h:2: ']' closes nothing"},
		"closed by another":               {"[" + invoke + ")", "h:2: ')' closes nothing"},
		"closed unopened":                 {invoke + "]", "h:2: ']' closes nothing"},
		"something behind it":             {"[" + invoke + "]\n" + ok, "h:3: the history was closed before this"},
		"a vector within":                 {"[" + invoke + "[1 2]]", "h:2: an operation has to be a map"},
		"a number within":                 {invoke + "\n7", "h:3: an operation has to be a map"},
		"a key twice":                     {invoke + "{:process 0, :type :ok,\n:type :fail, :f :read}", "h:2: a map with the key :type twice"},
		"a namespace of its own":          {"#:x{:process 0, :type :ok, :f :read}", "h:1: an operation without :process"},
		"no process":                      {"{:type :ok, :f :read}", "h:1: an operation without :process"},
		"no type":                         {"{:process 0, :f :read}", "h:1: an operation without :type"},
		"no function":                     {"{:process 0, :type :ok}", "h:1: an operation without :f"},
		"unknown type":                    {invoke + "{:process 0, :type :okay, :f :read}", "h:2: unknown :type :okay; known are :invoke, :ok, :fail, :info"},
		"type in quotes":                  {"{:process 0, :type \"ok\", :f :read}", "h:1: unknown :type \"ok\""},
		"a process that is none":          {"{:process [1], :type :ok, :f :read}", "h:1: a :process has to be a number or a name, not [1]"},
		"a function that is none":         {"{:process 1, :type :ok, :f {}}", "h:1: an :f has to be a name, not {}"},
		"an index that is none":           {"{:process 1, :type :ok, :f :read, :index :x}", "h:1: an :index has to be a whole number, not :x"},
		"an index too large":              {"{:process 1, :type :ok, :f :read, :index 99999999999999999999}", "h:1: an :index has to be a whole number"},
		"completed, not invoked":          {invoke + ok + "\n" + ok, "h:4: process 0 completes :read without having invoked it"},
		"completed by another":            {invoke + "{:process 1, :type :info, :f :read}", "h:2: process 1 completes :read without having invoked it"},
		"completed as another":            {invoke + "{:process 0, :type :ok, :f :write}", "h:2: process 0 completes :write, and what it invoked on line 1 is :read"},
		"invoked twice":                   {invoke + "\n\n" + invoke, "h:4: process 0 invokes :read while its :read of line 1 is not completed"},
		"out of order":                    {"{:process 0, :type :invoke, :f :read, :index 5}\n{:process 0, :type :ok, :f :read, :index 5}", "h:2: index 5 after 5"},
		"the nemesis out of order":        {"{:process :nemesis, :type :info, :f :x, :index 5}\n{:process :nemesis, :type :info, :f :x, :index 4}", "h:2: index 4 after 5"},
		"text: no operation":              {"0 :invoke :read nil\nhello\n", "h:2: not an operation: process, type, function and value"},
		"text: no value":                  {"0\t:invoke\t:read\n", "h:1: not an operation"},
		"text: unknown type":              {"0\t:invoked\t:read\tnil\n", "h:1: unknown :type :invoked"},
		"text: a broken value":            {"0\t:invoke\t:cas\tnil\n0\t:ok\t:cas\t[1 2\n", "h:2: the value of an operation: what is opened here"},
		"text: a broken process":          {"0x :invoke :read nil\n", "h:1: the process of an operation: 0x is no number"},
		"text: completed, not invoked":    {"0\t:ok\t:read\tnil\n", "h:1: process 0 completes :read without having invoked it"},
		"text: a line too long":           {"0 :invoke :read nil\n" + strings.Repeat("x", MaxLine+2), "h:2: longer than 1048576 bytes"},
		"text: control characters":        {"a\x1b[31mb c", "h:1: not an operation"},
		"log: a broken value":             {"INFO jepsen.util - 0 :invoke :cas (1", "h:1: the value of an operation: what is opened here"},
		"JSON":                            {`{"index":0,"time_ns":5}`, "h:1: this is JSON; a history of Jepsen is EDN"},
		"our own plan":                    {"{\n  \"a\": 1\n}", "h:1: this is JSON; a history of Jepsen is EDN"},
		"a binary file":                   {"\x7fELF\x02\x01\x01", "h:1: not an operation"},
		"terminal codes are not repeated": {"{:process 0, :type :\u009b31m, :f :read}", "unknown :type : 31m"},
	} {
		h, err := Read(strings.NewReader(c.text), "h")
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, history.ErrMalformed) {
			t.Errorf("%s: got %v; want %s (%+v)", name, err, c.want, h)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\u009b\x00") {
			t.Errorf("%s: the mistake repeats control characters: %q", name, err)
		}
	}
}

func TestNothingIsAHistoryOfNothing(t *testing.T) {
	for _, text := range []string{"", " \n", "[]", "()", "; only words\n", "#_{:a 1}"} {
		if h, err := Read(strings.NewReader(text), "h"); err != nil || len(h.Operations) != 0 {
			t.Errorf("%q: %+v %v", text, h, err)
		}
	}
}

// A file that cannot be read to its end is no mistake of its author's, and no short history.
func TestReadFailures(t *testing.T) {
	for name, text := range shapes {
		for _, cut := range []int{0, 1, 40, len(text) - 1} {
			broken := errors.New("disk on fire")
			_, err := Read(iotest.DataErrReader(strings.NewReader(text[:cut])), "h")
			_, failed := Read(&failing{text[:cut], broken}, "h")
			if !errors.Is(failed, broken) || errors.Is(failed, history.ErrMalformed) {
				t.Errorf("%s, cut at %d: %v (and without failure %v)", name, cut, failed, err)
			}
		}
	}
}

type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, f.err
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// What other tools print as JSON is told by its name, not by the first character that EDN does not have.
func TestJSONIsNamed(t *testing.T) {
	for text, line := range map[string]int{
		`{"type":"invoke","f":"acquire","process":0}`: 1, "[\n  {\"index\": 0, \"type\": \"ok\"}]": 2,
	} {
		_, err := Read(strings.NewReader(text), "history.json")
		var wrong *Mistake
		if !errors.As(err, &wrong) || wrong.Line != line || wrong.File != "history.json" || !strings.Contains(wrong.Text, "this is JSON") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(`{"type" :invoke}`), "history.edn"); err != nil && strings.Contains(err.Error(), "JSON") {
		t.Error(err)
	}
}
