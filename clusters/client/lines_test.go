package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/testkit/wire"
)

var (
	fullCommand = Command{
		Cmd: CmdWrite, N: 1, Op: 2, Hold: "h2", Key: "k1", Try: true, Value: "h2.3", Base: "ä\n\"\\\x01\u2028", IdempotencyKey: "7", WorkMS: 4,
		Guard: history.GuardBeforeWork,
	}
	owned      = true
	fullReport = Report{
		Msg: MsgOK, N: 1, Holds: []string{"h1", "h\"2"}, Op: 2, Seen: 3, Session: "s", Token: "33", TTLMS: 4, ValidMS: 5,
		Value: "v", Held: true, Owned: &owned, Removed: true, Attempts: 6, Stage: StageQueued, Code: "busy", Error: "a < b & c: \"é\"\t\x7f",
	}
)

// What is spelt by hand has the fields that encoding/json would give it, and is read as what it was.
func TestLinesSayWhatEncodingJSONWouldSay(t *testing.T) {
	for _, c := range []Command{fullCommand, {}, {Cmd: CmdPing, N: 7}, {Cmd: CmdInit, Init: &Init{Protocol: 1, Name: "c1"}}} {
		line, err := AppendCommand(nil, &c)
		alike(t, line, err, c, (*LineReader).Command)
	}
	for _, r := range []Report{fullReport, {}, {Msg: MsgPong, N: 7, Holds: []string{"h1"}}, {Msg: MsgReady, Ready: &Ready{Protocol: 1}}, {Msg: MsgOK, Owned: new(bool)}} {
		line, err := appendReport(nil, &r)
		alike(t, line, err, r, (*LineReader).Report)
	}
}

func alike[T any](t *testing.T, line []byte, err error, want T, read func(*LineReader, []byte) (T, error)) {
	t.Helper()
	if err != nil || bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("%q is not one line: %v", line, err)
	}
	var fields, standard map[string]any
	spelt, _ := json.Marshal(want)
	if json.Unmarshal(line, &fields) != nil || json.Unmarshal(spelt, &standard) != nil || !reflect.DeepEqual(fields, standard) {
		t.Errorf("%s says other than %s", line, spelt)
	}
	var reader LineReader
	if got, err := read(&reader, line[:len(line)-1]); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, %v; want %+v", line, got, err, want)
	}
}

// Every line is read as encoding/json reads it.
func FuzzLines(f *testing.F) {
	for _, line := range wire.Hard {
		f.Add([]byte(line))
	}
	command, _ := AppendCommand(nil, &fullCommand)
	report, _ := appendReport(nil, &fullReport)
	f.Add(command)
	f.Add(report)
	f.Fuzz(func(t *testing.T, line []byte) {
		var reader LineReader
		asStandard(t, &reader, line, (*LineReader).Command)
		asStandard(t, &reader, line, (*LineReader).Report)
	})
}

func asStandard[T any](t *testing.T, reader *LineReader, line []byte, read func(*LineReader, []byte) (T, error)) {
	t.Helper()
	var want T
	wrong := json.Unmarshal(line, &want)
	got, err := read(reader, line)
	if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %+v, %v; encoding/json: %+v, %v", line, got, err, want, wrong)
	}
}

// A list belongs to its reader alone: the next line must not change it.
func TestAListOutlivesItsLine(t *testing.T) {
	var reader LineReader
	line := []byte(`{"msg":"pong","n":1,"holds":["h1","h2"]}`)
	first, _ := reader.Report(line)
	copy(line, `{"msg":"pong","n":1,"holds":["h3","h4"]}`)
	if second, _ := reader.Report(line); !reflect.DeepEqual(first.Holds, []string{"h1", "h2"}) || !reflect.DeepEqual(second.Holds, []string{"h3", "h4"}) {
		t.Errorf("read %v, then %v", first.Holds, second.Holds)
	}
}
