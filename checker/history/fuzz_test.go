package history

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"

	"lockcheck/checker/history/flatjson"
)

// What Writer writes is taken by the fast decoder; the rest are lines that only encoding/json takes, or no decoder.
var eventLines = []string{
	`{"index":0,"time_ns":5,"process":"harness","type":"info","f":"phase","value":"load"}`,
	`{"index":0,"time_ns":5,"process":"p","client":"c","type":"invoke","f":"acquire","op":1,"key":"k","hold":"h","try":true}`,
	`{"index":0,"time_ns":9,"process":"p","client":"c","type":"ok","f":"renew","session":"s","seen_ns":7,"ttl_ns":3,"owned":false}`,
	`{"index":0,"time_ns":9,"process":"nemesis","type":"ok","f":"kill","op":3,"target":"n1","at_once":true,"detail":"with its data"}`,
	`{"index":0,"time_ns":9,"process":"nemesis","type":"invoke","f":"pause","op":3,"target":"c","role":"holder","dur_ns":4,"heal":true,"error":"é\n\"\\"}`,
	`{"index":0,"time_ns":9,"process":"harness","type":"info","f":"stall","from_ns":3}`,
	`{ "Index": 0, "time_ns": 1e1, "owned": null }`,
	`{"index":0,"index":1,"time_ns":9223372036854775807}`,
	`{"index":[[[[{}]]]]}`,
}

var requestLines = []string{
	`{"seq":1,"request":"12","key":"k","kind":"read","hold":"h","token":"33","value":"v","outcome":"applied","mark":"33","time_ns":4}`,
	`{"seq":1,"request":"99999999999999999999","key":"k","kind":"write","base":"b","outcome":"rejected","time_ns":0}`,
	`{"seq":1,"request":"-1","key":"","kind":"read","outcome":"duplicate"}`,
}

func FuzzEvents(f *testing.F) {
	for _, line := range eventLines {
		f.Add([]byte(line + "\n"))
	}
	f.Add([]byte(eventLines[0] + "\n" + strings.Replace(eventLines[1], `"index":0`, `"index":1`, 1) + "\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		keepsItsPromises(t, text, Events, (*Writer).Event, eventCodec)
	})
}

func FuzzRequests(f *testing.F) {
	for _, line := range requestLines {
		f.Add([]byte(line + "\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		keepsItsPromises(t, text, Requests, (*Writer).Request, requestCodec)
	})
}

// keepsItsPromises: reading a file does not panic, with any content; what is wrong is ErrMalformed, and the end; what was
// read can be written, and reads the same again; and where the fast decoder takes a line, encoding/json agrees with it.
func keepsItsPromises[T any](t *testing.T, text []byte, read func(io.Reader, string) iter.Seq2[T, error], write func(*Writer, T) error, fast *flatjson.Codec[T]) {
	var rows []T
	var out bytes.Buffer
	w := NewWriter(&out)
	ended := false
	for row, err := range read(bytes.NewReader(text), "f") {
		switch {
		case ended:
			t.Fatal("it goes on after an error")
		case err != nil:
			ended = true
			if !errors.Is(err, ErrMalformed) || !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("not ErrMalformed, or without its place: %v", err)
			}
			continue
		}
		if err := write(w, row); err != nil {
			t.Fatalf("read and not to be written: %+v: %v", row, err)
		}
		rows = append(rows, row)
	}
	n := 0
	for row, err := range read(&out, "g") {
		if err != nil || n >= len(rows) || !reflect.DeepEqual(row, rows[n]) {
			t.Fatalf("line %d reads %+v, %v", n, row, err)
		}
		n++
	}
	if n != len(rows) {
		t.Fatalf("%d of %d rows", n, len(rows))
	}
	var plain flatjson.Reader
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		var row T
		if !fast.Read(&plain, line, &row) {
			continue
		}
		if slow, err := decodeStrictly[T](line); err != nil || !reflect.DeepEqual(row, slow) {
			t.Fatalf("%s\nfast %+v\nslow %+v, %v", line, row, slow, err)
		}
	}
}

// FuzzPlan: a plan that is read is valid, and reads the same again from its own spelling.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"version":1,"tokens":"ordered","ttl_ms":2000,"effective_ttl_ms":2000,"same_kernel":true,"exposure":[{"name":"pauses","min":1}]}`))
	f.Add([]byte(`{"version":1,"tokens":"none","tokens_reason":"é","excerpt":{"finding":"stale-write-1","property":"stale-write","initial":{"k":"v"}},"settings":{"a":"b"},"command":["x"]}`))
	f.Add([]byte("{\"version\":1,\n\"tokens\":\"ordered\"}\n{}"))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"exposure":[[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ReadPlan(bytes.NewReader(text), "plan.json")
		if err != nil {
			if !errors.Is(err, ErrMalformed) || !strings.HasPrefix(err.Error(), "plan.json:") {
				t.Fatalf("not ErrMalformed, or without its place: %v", err)
			}
			return
		}
		if bound := NewBounds(p).Between(0, 0, nil).NS(); bound < 30e9 {
			t.Fatalf("a lock would have to be free within %d ns", bound)
		}
		var out bytes.Buffer
		if err := WritePlan(&out, p); err != nil {
			t.Fatalf("read and not to be written: %v", err)
		}
		spelt := out.String()
		again, err := ReadPlan(&out, "again")
		if err != nil {
			t.Fatalf("%s: %v", spelt, err)
		}
		var twice bytes.Buffer
		if err := WritePlan(&twice, again); err != nil || twice.String() != spelt {
			t.Fatalf("%s\nreads as\n%s, %v", spelt, twice.String(), err)
		}
	})
}

// endless is a file without end. It counts what is taken of it.
type endless struct {
	of    byte
	taken int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.of
	}
	e.taken += len(p)
	return len(p), nil
}

// What is absurdly long is refused before it is swallowed; what is absurdly deep is refused, too.
func TestAbsurdFilesAreRefused(t *testing.T) {
	first := func(text io.Reader) map[string]error {
		errs := map[string]error{}
		for _, err := range Events(text, "history.jsonl") {
			errs["events"] = err
		}
		return errs
	}
	for _, of := range []byte{'[', ' ', '"', 0} {
		long := &endless{of: of}
		if err := first(long)["events"]; !errors.Is(err, ErrMalformed) || long.taken > 2*MaxLine {
			t.Errorf("events of %q: %v after %d bytes", of, err, long.taken)
		}
		long = &endless{of: of}
		for _, err := range Requests(long, "resource.jsonl") {
			if !errors.Is(err, ErrMalformed) || long.taken > 2*MaxLine {
				t.Errorf("requests of %q: %v after %d bytes", of, err, long.taken)
			}
		}
		long = &endless{of: of}
		if _, err := ReadPlan(long, "plan.json"); !errors.Is(err, ErrMalformed) || long.taken > 3*MaxPlan {
			t.Errorf("plan of %q: %v after %d bytes", of, err, long.taken)
		}
	}
	deep := strings.Repeat("[", MaxLine-100)
	for _, text := range []string{deep, `{"index":` + deep, `{"exposure":` + deep, `{"settings":{"a":` + strings.Repeat(`{"a":`, 100_000)} {
		if err := first(strings.NewReader(text + "\n"))["events"]; !errors.Is(err, ErrMalformed) {
			t.Errorf("event %.20s…: %v", text, err)
		}
		if _, err := ReadPlan(strings.NewReader(text), "plan.json"); !errors.Is(err, ErrMalformed) {
			t.Errorf("plan %.20s…: %v", text, err)
		}
	}
}

// Times that no run can have would overflow where they are added up.
func TestTimesThatNoRunCanHaveAreRefused(t *testing.T) {
	const never = 1<<63 - 1
	for name, e := range map[string]Event{
		"time":     {TimeNS: never},
		"ttl":      {TTLNS: never},
		"validity": {ValidNS: never},
		"work":     {WorkNS: never},
		"duration": {DurNS: never},
	} {
		e.Process, e.Client, e.Type, e.F, e.Session = "p", "c", OK, Renew, "s"
		if err := e.Validate(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := Request{Seq: 1, Request: "1", Key: "k", Kind: KindRead, Outcome: Applied, TimeNS: never}
	if err := q.Validate(); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	for _, p := range []Plan{{TTLMS: never}, {EffectiveMS: never / 10_000_000}, {ElectionMS: never}, {GraceMS: never}, {LockDelayMS: never}, {DriftMS: never}, {TimeLimitMS: never}} {
		p.Version, p.Tokens = FormatVersion, TokensNone
		if err := p.Validate(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
