package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"lockcheck/checker/history/flatjson"
)

func readAll(text string) (events []Event, err error) {
	for e, err := range Events(strings.NewReader(text), "history.jsonl") {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func boolOf(b bool) *bool { return &b }

// everything has every field set to something that has to survive.
var everything = Event{
	TimeNS: 1234567890, Process: "c1.2", Client: "c1", Type: OK, F: Acquire, Op: 7, Key: "k1", Hold: "h7",
	Session: "694d8a1c", Token: "18446744073709551617", Value: "h7.9", Base: "h3.4", SeenNS: 12, TTLNS: 2e9, ValidNS: 99e9,
	HeldNS: 1234567, Owned: boolOf(false), Removed: true, GaveBack: true, Attempts: 3, QueuedNS: 9, Try: true, WorkNS: 4e8, Target: "n1", Role: "server", DurNS: 3e9, Heal: true,
	FromNS: 5, AtOnce: true, Clock: ClockWall, Detail: "with its data", SkewNS: -6, LagNS: 7, Code: CodeBusy, Error: "tab\t, quote\", backslash\\, newline\n, bell\a, ü, ☃",
}

func TestEventsSurviveWritingAndReading(t *testing.T) {
	long := everything
	long.Index, long.TimeNS, long.Op, long.Value = 1, MaxNS, math.MaxInt64, strings.Repeat("x", 100_000)
	want := []Event{everything, long, {Index: 2, TimeNS: MaxNS, Process: "harness", Type: Info, F: Phase, Value: PhaseEnd}}
	var file bytes.Buffer
	w := NewWriter(&file)
	for _, e := range want {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readAll(file.String())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// Lines are written without encoding/json for speed; encoding/json is the judge of what it writes.
func TestWriterAgreesWithEncodingJSON(t *testing.T) {
	for field, value := range reflect.ValueOf(everything).Fields() {
		if value.IsZero() && field.Name != "Index" {
			t.Errorf("everything has no %s", field.Name)
		}
	}
	for _, e := range []Event{everything, {}, {Owned: boolOf(true)}, {Error: "a\xffb\x00\u2028"}} {
		var got Event
		if err := json.Unmarshal(AppendEvent(nil, &e), &got); err != nil {
			t.Fatalf("%s: %v", AppendEvent(nil, &e), err)
		}
		e.Error = strings.ToValidUTF8(e.Error, "\ufffd")
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s is read as %+v, want %+v", AppendEvent(nil, &e), got, e)
		}
		var names, wanted map[string]json.RawMessage
		standard, _ := json.Marshal(&e)
		if json.Unmarshal(AppendEvent(nil, &e), &names) != nil || json.Unmarshal(standard, &wanted) != nil || len(names) != len(wanted) {
			t.Errorf("fields of %s, want those of %s", AppendEvent(nil, &e), standard)
		}
	}
	q := Request{Seq: 3, Request: "9", Key: "k", Kind: KindWrite, Hold: "h", Token: "7", Value: "v", Base: "b\n", Outcome: Rejected, Mark: "8", TimeNS: 5}
	var got Request
	if err := json.Unmarshal(AppendRequest(nil, &q), &got); err != nil || got != q {
		t.Errorf("%s is read as %+v, %v", AppendRequest(nil, &q), got, err)
	}
}

// Every line that the fast decoder takes it must read as encoding/json does.
func FuzzFastDecoderAgreesWithEncodingJSON(f *testing.F) {
	f.Add(AppendEvent(nil, &everything))
	for _, s := range []string{
		`{"index":0}`, `{}`, `{"index":01}`, `{"index":-1}`, `{"op":1.5}`, `{"owned":null}`, `{"index":9223372036854775808}`,
		`{"index":0,"index":1}`, `{"Index":0}`, `{"index":0}x`, `{"index":0,}`, `{"key":"\u0041"}`, `{"try":truefalse}`, `{"try":true,"try":false}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var plain flatjson.Reader
		var fast, slow Event
		if !eventCodec.Read(&plain, line, &fast) {
			return
		}
		if err := json.Unmarshal(line, &slow); err != nil || !reflect.DeepEqual(fast, slow) {
			t.Errorf("%q: fast %+v, encoding/json %+v, %v", line, fast, slow, err)
		}
	})
}

const good = `{"index":0,"time_ns":5,"process":"c1","client":"c1","type":"invoke","f":"acquire","op":1,"key":"k","hold":"h1"}` + "\n"

func TestMistakesNameFileAndLine(t *testing.T) {
	second := func(fields string) string { return good + `{"index":1,"time_ns":6,` + fields + "}\n" }
	silent := func(client string, from, to int) string {
		return good + fmt.Sprintf(`{"index":1,"time_ns":%d,"process":"c1","client":%s,"type":"info","f":"silent","from_ns":%d}`+"\n", to, client, from)
	}
	for name, test := range map[string]struct{ file, want string }{
		"torn last line":                         {good + `{"index":1,"time_ns":6,"process":"harness","type":"info","f":"phase","value":"end"}`, "history.jsonl:2: the last line is torn"},
		"torn in the middle":                     {good + `{"index":1,"time`, "history.jsonl:2: the last line is torn"},
		"no JSON":                                {good + "hello\n", "history.jsonl:2: not a JSON object"},
		"empty line":                             {good + "\n", "history.jsonl:2: not a JSON object"},
		"half an object":                         {good + `{"index":1,"time_ns":6` + "\n", "history.jsonl:2: not a JSON object"},
		"two objects":                            {strings.TrimSuffix(good, "\n") + "{}\n", "history.jsonl:1: something follows"},
		"unknown field":                          {second(`"process":"c1","client":"c1","type":"info","f":"exit","colour":"red"`), `history.jsonl:2: unknown field "colour": another version of lockcheck wrote it`},
		"number as string":                       {second(`"process":"c1","client":"c1","type":"info","f":"exit","op":"1"`), "history.jsonl:2: not a JSON object"},
		"token as number":                        {second(`"process":"c1","client":"c1","type":"ok","f":"acquire","op":1,"hold":"h1","token":33`), "history.jsonl:2: not a JSON object"},
		"a name that is no UTF-8":                {second("\"process\":\"c\xff\",\"client\":\"c\xff\",\"type\":\"info\",\"f\":\"exit\""), "history.jsonl:2: \"c\ufffd\" is no name"},
		"a session that is half a character":     {second(`"process":"c1","client":"c1","type":"ok","f":"acquire","op":1,"hold":"h1","session":"\ud800"`), `history.jsonl:2: "`},
		"token not decimal":                      {second(`"process":"c1","client":"c1","type":"ok","f":"acquire","op":1,"hold":"h1","token":"0x21"`), `history.jsonl:2: token "0x21"`},
		"token too long":                         {second(`"process":"c1","client":"c1","type":"ok","f":"acquire","op":1,"hold":"h1","token":"` + strings.Repeat("9", MaxToken+1) + `"`), "history.jsonl:2: token"},
		"unknown type":                           {second(`"process":"c1","client":"c1","type":"maybe","f":"exit"`), `history.jsonl:2: unknown type "maybe"; known are invoke, ok, fail, info`},
		"unknown f":                              {second(`"process":"c1","client":"c1","type":"info","f":"sneeze"`), `history.jsonl:2: unknown f "sneeze"`},
		"unknown f of an op":                     {second(`"process":"c1","client":"c1","type":"info","f":"lost","op":4,"hold":"h1"`), `history.jsonl:2: unknown f "lost" of an operation`},
		"unknown mark":                           {second(`"process":"harness","type":"info","f":"acquire"`), `history.jsonl:2: unknown f "acquire" of process "harness"`},
		"unknown phase":                          {second(`"process":"harness","type":"info","f":"phase","value":"lunch"`), `history.jsonl:2: unknown phase "lunch"`},
		"fault without number":                   {second(`"process":"nemesis","type":"invoke","f":"pause"`), "history.jsonl:2: op is missing"},
		"no process":                             {second(`"type":"info","f":"exit"`), "history.jsonl:2: process is missing"},
		"no client":                              {second(`"process":"c1","type":"info","f":"exit"`), "history.jsonl:2: client is missing"},
		"operation without op":                   {second(`"process":"c1","client":"c1","type":"ok","f":"read"`), "history.jsonl:2: op is missing"},
		"seen in the future":                     {second(`"process":"c1","client":"c1","type":"ok","f":"renew","session":"s","seen_ns":7`), "history.jsonl:2: seen_ns is 7"},
		"held in the future":                     {second(`"process":"c1","client":"c1","type":"info","f":"exit","held_ns":7`), "history.jsonl:2: held_ns is 7"},
		"negative number":                        {second(`"process":"c1","client":"c1","type":"info","f":"exit","ttl_ns":-7`), "history.jsonl:2: a number is negative"},
		"index repeated":                         {good + good, "history.jsonl:2: index is 0 where 1 has to follow"},
		"line missing":                           {good + `{"index":2,"time_ns":6,"process":"c1","client":"c1","type":"info","f":"exit"}` + "\n", "history.jsonl:2: index is 2 where 1 has to follow"},
		"time goes back":                         {good + `{"index":1,"time_ns":4,"process":"c1","client":"c1","type":"info","f":"exit"}` + "\n", "history.jsonl:2: time_ns is 4, before the line above"},
		"nameless lease report":                  {second(`"process":"c1","client":"c1","type":"ok","f":"renew"`), "history.jsonl:2: a lease report names neither"},
		"a silence that ends before it began":    {silent(`"c1"`, 7, 6), "history.jsonl:2: from_ns is 7, after time_ns (6)"},
		"a silence without a length":             {silent(`"c1"`, 6, 6), "history.jsonl:2: a silence is \"info\", and begins (from_ns: 6) before it ends (time_ns: 6)"},
		"a silence without a beginning":          {silent(`"c1"`, 0, 6), "history.jsonl:2: a silence"},
		"a silence of a client that never asked": {silent(`"c2"`, 5, 6), `history.jsonl:2: client "c2" is silent, and no line above has it ask for a lock`},
		"silences that overlap":                  {silent(`"c1"`, 5, 8) + strings.TrimPrefix(strings.Replace(silent(`"c1"`, 7, 9), `"index":1`, `"index":2`, 1), good), `history.jsonl:3: from_ns is 7, but client "c1" was silent until 8 by a line above`},
		"endless line":                           {good + strings.Repeat("x", MaxLine+2), "history.jsonl:2: longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(test.file)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v (malformed: %v), want %q...", err, errors.Is(err, ErrMalformed), test.want)
			}
			if strings.HasPrefix(name, "torn") != errors.Is(err, ErrTorn) {
				t.Errorf("torn: %v", errors.Is(err, ErrTorn))
			}
		})
	}
}

func TestRequestMistakesNameFileAndLine(t *testing.T) {
	const first = `{"seq":1,"request":"4","key":"k","kind":"read","outcome":"applied","time_ns":3}` + "\n"
	for name, test := range map[string]struct{ file, want string }{
		"gap":             {first + `{"seq":3,"request":"5","key":"k","kind":"read","outcome":"applied","time_ns":3}` + "\n", "resource.jsonl:2: seq is 3 where 2"},
		"unknown kind":    {first + `{"seq":2,"request":"5","key":"k","kind":"peek","outcome":"applied","time_ns":3}` + "\n", `resource.jsonl:2: unknown kind "peek"; known are read, write`},
		"unknown outcome": {first + `{"seq":2,"request":"5","key":"k","kind":"read","outcome":"fine","time_ns":3}` + "\n", `resource.jsonl:2: unknown outcome "fine"`},
		"request id":      {first + `{"seq":2,"request":"x","key":"k","kind":"read","outcome":"applied","time_ns":3}` + "\n", `resource.jsonl:2: request "x"`},
		"mark":            {first + `{"seq":2,"request":"5","key":"k","kind":"read","outcome":"applied","mark":"-1","time_ns":3}` + "\n", `resource.jsonl:2: token "-1"`},
		"torn":            {first + `{"seq":2,`, "resource.jsonl:2: the last line is torn"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			for _, e := range Requests(strings.NewReader(test.file), "resource.jsonl") {
				err = e
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q...", err, test.want)
			}
		})
	}
}

func TestReadingStopsAtTheFirstMistakeAndWhenAsked(t *testing.T) {
	n := 0
	for range Events(strings.NewReader("x\nx\nx\n"), "f") {
		n++
	}
	for range Events(strings.NewReader(good+"x\n"), "f") {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d rows", n)
	}
}

func TestAFailingDiskIsNotAMalformedFile(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(good), failing{})
	var last error
	for _, err := range Events(broken, "history.jsonl") {
		last = err
	}
	if !errors.Is(last, io.ErrUnexpectedEOF) || errors.Is(last, ErrMalformed) || !strings.HasPrefix(last.Error(), "history.jsonl:2:") {
		t.Errorf("got %v", last)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestWriterRefusesWhatReaderWouldRefuse(t *testing.T) {
	w := NewWriter(io.Discard)
	ok := Event{TimeNS: 5, Process: "c1", Client: "c1", Type: Info, F: Exit}
	for name, e := range map[string]Event{
		"invalid":    {Process: "c1", Client: "c1", Type: "x", F: Exit},
		"wrong next": {Index: 1, Process: "c1", Client: "c1", Type: Info, F: Exit},
	} {
		if err := w.Event(e); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Event(ok); err != nil {
		t.Fatal(err)
	}
	if err := w.Event(Event{Index: 1, TimeNS: 4, Process: "c1", Client: "c1", Type: Info, F: Exit}); !errors.Is(err, ErrMalformed) {
		t.Errorf("time goes back: %v", err)
	}
}

func TestPlanFiles(t *testing.T) {
	want := Plan{Version: FormatVersion, Backend: "etcd", Workload: "lock", Nemesis: NoNemesis, Clients: 2, Keys: 1, TTLMS: 2000, EffectiveMS: 2000, TimeLimitMS: 1000,
		Tokens: TokensOrdered, Versions: map[string]string{"go": "<1>"}}
	want.Exposure = want.Requirements()
	var file bytes.Buffer
	if err := WritePlan(&file, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPlan(&file, "plan.json"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, mistake := range map[string]string{
		"{\n\n  \"version\": 1,\n  oops":             "plan.json:4: not a plan",
		"{\n\"seed\": \"x\"}":                        "plan.json:2: not a plan",
		"{\n\"colour\": 1}":                          `plan.json:2: unknown field "colour"`,
		"{\n\"run\": \"colour\",\n\n\"colour\" : 1}": `plan.json:4: unknown field "colour"`,
		"{\"version\":7}":                            "plan.json: the plan's version is 7",
		"":                                           "plan.json:1: not a plan",
	} {
		if _, err := ReadPlan(strings.NewReader(text), "plan.json"); err == nil || !strings.HasPrefix(err.Error(), mistake) || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, want %s", text, err, mistake)
		}
	}
}

func TestPlanMistakes(t *testing.T) {
	fine := Plan{Version: FormatVersion, Tokens: TokensOrdered, Exposure: []Requirement{{Name: ExposureContended, Min: 1}}}
	if err := fine.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Plan){
		"version":                               func(p *Plan) { p.Version = 99 },
		"tokens":                                func(p *Plan) { p.Tokens = "some" },
		"time":                                  func(p *Plan) { p.TTLMS = -1 },
		"workload":                              func(p *Plan) { p.Workload = "dance" },
		"clients":                               func(p *Plan) { p.Clients = -3 },
		"exposure":                              func(p *Plan) { p.Exposure = []Requirement{{Min: 1}} },
		"resource":                              func(p *Plan) { p.Resource = "cass" },
		"tokens that a plain resource compares": func(p *Plan) { p.Resource, p.Fenced = ResourcePlain, true },
		"tokens that cas compares":              func(p *Plan) { p.Resource, p.Fenced = ResourceCAS, true },
	} {
		p := fine
		change(&p)
		if err := p.Validate(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkReadEvents(b *testing.B) {
	e := everything
	e.Error = ""
	var file bytes.Buffer
	w := NewWriter(&file)
	for i := range 1000 {
		e.Index = int64(i)
		if err := w.Event(e); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		for _, err := range Events(bytes.NewReader(file.Bytes()), "f") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What an error says need not be UTF-8: nothing goes by it.
func TestAnErrorIsReadAsFarAsItIsUTF8(t *testing.T) {
	events, err := readAll(good + "{\"index\":1,\"time_ns\":6,\"process\":\"c1\",\"client\":\"c1\",\"type\":\"info\",\"f\":\"acquire\",\"op\":1,\"hold\":\"h1\",\"error\":\"a\xffb\"}\n")
	if err != nil || events[1].Error != "a\ufffdb" {
		t.Errorf("%v: %v", events, err)
	}
}
