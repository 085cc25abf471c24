package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

var (
	fullCommand = Command{
		Cmd: CmdWrite, N: 1, Op: 2, Hold: "h2", Key: "k1", Try: true, Value: "h2.3", Base: "ä\n\"\\\x01\u2028", WorkMS: 4, Guard: GuardBeforeWork,
	}
	owned      = true
	fullReport = Report{
		Msg: MsgOK, N: 1, Holds: []string{"h1", "h\"2"}, Op: 2, Seen: 3, Session: "s", Token: "33", TTLMS: 4, ValidMS: 5,
		Value: "v", Held: true, Owned: &owned, Stage: StageQueued, Code: "busy", Error: "a < b & c: \"é\"\t\x7f",
	}
)

// What is spelt by hand has the fields that encoding/json would give it, and is read as what it was.
func TestLinesSayWhatEncodingJSONWouldSay(t *testing.T) {
	for _, c := range []Command{fullCommand, {}, {Cmd: CmdPing, N: 7}, {Cmd: CmdInit, Init: &Init{Protocol: 1, Name: "c1"}}} {
		line, err := appendCommand(nil, &c)
		alike(t, line, err, c, (*lineReader).command)
	}
	for _, r := range []Report{fullReport, {}, {Msg: MsgPong, N: 7, Holds: []string{"h1"}}, {Msg: MsgReady, Ready: &Ready{Protocol: 1}}, {Msg: MsgOK, Owned: new(bool)}} {
		line, err := appendReport(nil, &r)
		alike(t, line, err, r, (*lineReader).report)
	}
}

func alike[T any](t *testing.T, line []byte, err error, want T, read func(*lineReader, []byte) (T, error)) {
	t.Helper()
	if err != nil || bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("%q is not one line: %v", line, err)
	}
	var fields, standard map[string]any
	spelt, _ := json.Marshal(want)
	if json.Unmarshal(line, &fields) != nil || json.Unmarshal(spelt, &standard) != nil || !reflect.DeepEqual(fields, standard) {
		t.Errorf("%s says other than %s", line, spelt)
	}
	var reader lineReader
	if got, err := read(&reader, line[:len(line)-1]); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, %v; want %+v", line, got, err, want)
	}
}

// hardLines are spelt as nobody here spells them: some mean the same, some mean something else, some nothing.
var hardLines = []string{
	`{}`, ``, `null`, `{"op":01}`, `{"op":-1}`, `{"op":1.5}`, `{"op":1e3}`, `{"op":9223372036854775807}`, `{"op":9223372036854775808}`, `{"op":"1"}`,
	`{"op":1,"op":2}`, `{"OP":1}`, `{"op":null}`, `{"op":1}x`, `{"op":1,}`, `{"op" :1}`, ` {"op":1} `, `{"op":1`, `{"unknown":{"op":1},"op":2}`,
	`{"hold":"\u0041","key":"é"}`, `{"hold":"` + "\xff" + `"}`, `{"holds":[]}`, `{"holds":["a","b"],"holds":["c"]}`, `{"holds":["a",]}`, `{"holds":[1]}`, `{"holds":null}`,
	`{"held":true,"held":false}`, `{"held":truefalse}`, `{"owned":null}`, `{"owned":true,"owned":false}`, `{"owned":1}`,
	`{"msg":"ok","op":31,"session":"694d9a3c5f2e1b07","token":"4711","seen":1640}`, `{"cmd":"ping","n":17}`, `{"msg":"ready","ready":{"protocol":1}}`,
}

// Whatever line there is, it is read as encoding/json reads it.
func FuzzLines(f *testing.F) {
	for _, line := range hardLines {
		f.Add([]byte(line))
	}
	command, _ := appendCommand(nil, &fullCommand)
	report, _ := appendReport(nil, &fullReport)
	f.Add(command)
	f.Add(report)
	f.Fuzz(func(t *testing.T, line []byte) {
		var reader lineReader
		asStandard(t, &reader, line, (*lineReader).command)
		asStandard(t, &reader, line, (*lineReader).report)
	})
}

func asStandard[T any](t *testing.T, reader *lineReader, line []byte, read func(*lineReader, []byte) (T, error)) {
	t.Helper()
	var want T
	wrong := json.Unmarshal(line, &want)
	got, err := read(reader, line)
	if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %+v, %v; encoding/json: %+v, %v", line, got, err, want, wrong)
	}
}

// A list is nobody's but its reader's: the next line must not change it.
func TestAListOutlivesItsLine(t *testing.T) {
	var reader lineReader
	line := []byte(`{"msg":"pong","n":1,"holds":["h1","h2"]}`)
	first, _ := reader.report(line)
	copy(line, `{"msg":"pong","n":1,"holds":["h3","h4"]}`)
	if second, _ := reader.report(line); !reflect.DeepEqual(first.Holds, []string{"h1", "h2"}) || !reflect.DeepEqual(second.Holds, []string{"h3", "h4"}) {
		t.Errorf("read %v, then %v", first.Holds, second.Holds)
	}
}
