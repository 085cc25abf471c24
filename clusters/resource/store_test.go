package resource

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lockcheck/checker/history"
)

var (
	plain  = Mode{Kind: history.ResourcePlain}
	fenced = Mode{Kind: history.ResourceFenced}
	cas    = Mode{Kind: history.ResourceCAS}
)

// step is one request and what should become of it.
type step struct {
	kind        history.Kind
	id          int
	token       string
	value, base string
	want        history.Outcome
	wantRead    string
	wantMark    string
	wantRefused bool
}

func TestStore(t *testing.T) {
	const read, write = history.KindRead, history.KindWrite
	const applied, rejected = history.Applied, history.Rejected
	for name, test := range map[string]struct {
		mode  Mode
		steps []step
	}{
		"plain accepts a lower token": {plain, []step{
			{kind: write, id: 1, token: "9", value: "new", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "8", value: "old", want: applied, wantMark: "9"},
			{kind: read, id: 3, token: "8", want: applied, wantRead: "old", wantMark: "9"},
		}},
		"fenced rejects a lower token's write and keeps the value": {fenced, []step{
			{kind: write, id: 1, token: "9", value: "new", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "8", value: "old", want: rejected, wantMark: "9"},
			{kind: read, id: 3, token: "9", want: applied, wantRead: "new", wantMark: "9"},
		}},
		"fenced rejects a lower token's read": {fenced, []step{
			{kind: write, id: 1, token: "9", value: "new", want: applied, wantMark: "9"},
			{kind: read, id: 2, token: "8", want: rejected, wantMark: "9"},
		}},
		"a read raises the mark": {fenced, []step{
			{kind: read, id: 1, token: "9", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "8", value: "old", want: rejected, wantMark: "9"},
		}},
		"a rejected request raises nothing": {fenced, []step{
			{kind: write, id: 1, token: "9", value: "a", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "3", value: "b", want: rejected, wantMark: "9"},
			{kind: write, id: 3, token: "9", value: "c", want: applied, wantMark: "9"},
		}},
		"the same token again is no lower one": {fenced, []step{
			{kind: read, id: 1, token: "9", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "9", value: "a", want: applied, wantMark: "9"},
		}},
		"without a token there is nothing to compare": {fenced, []step{
			{kind: write, id: 1, token: "9", value: "a", want: applied, wantMark: "9"},
			{kind: write, id: 2, value: "b", want: applied, wantMark: "9"},
		}},
		"tokens of one more digit are greater": {fenced, []step{
			{kind: write, id: 1, token: "10", value: "a", want: applied, wantMark: "10"},
			{kind: write, id: 2, token: "9", value: "b", want: rejected, wantMark: "10"},
		}},
		"neighbours above 2^53 are told apart": {fenced, []step{
			{kind: write, id: 1, token: "9007199254740993", value: "a", want: applied, wantMark: "9007199254740993"},
			{kind: write, id: 2, token: "9007199254740992", value: "b", want: rejected, wantMark: "9007199254740993"},
		}},
		"neighbours above 2^64 are told apart": {fenced, []step{
			{kind: write, id: 1, token: "18446744073709551617", value: "a", want: applied, wantMark: "18446744073709551617"},
			{kind: write, id: 2, token: "18446744073709551616", value: "b", want: rejected, wantMark: "18446744073709551617"},
		}},
		"fenced without tokens accepts what comes, and logs no token": {Mode{Kind: history.ResourceFenced, WithoutTokens: true}, []step{
			{kind: write, id: 1, token: "9", value: "new", want: applied},
			{kind: write, id: 2, token: "8", value: "old", want: applied},
			{kind: read, id: 3, token: "8", want: applied, wantRead: "old"},
		}},
		"cas rejects a write that was not built on the value": {cas, []step{
			{kind: write, id: 1, value: "a", want: applied},
			{kind: write, id: 2, value: "b", want: rejected},
			{kind: write, id: 3, value: "c", base: "x", want: rejected},
			{kind: read, id: 4, want: applied, wantRead: "a"},
			{kind: write, id: 5, value: "d", base: "a", want: applied},
			{kind: write, id: 6, value: "e", base: "a", want: rejected},
			{kind: read, id: 7, want: applied, wantRead: "d"},
		}},
		"cas looks at no token": {cas, []step{
			{kind: write, id: 1, token: "9", value: "a", want: applied, wantMark: "9"},
			{kind: write, id: 2, token: "8", value: "b", base: "a", want: applied, wantMark: "9"},
			{kind: write, id: 3, token: "10", value: "c", base: "a", want: rejected, wantMark: "9"},
			{kind: read, id: 4, token: "7", want: applied, wantRead: "b", wantMark: "9"},
		}},
		"numbers that are none are refused": {fenced, []step{
			{kind: write, id: 1, token: "07", value: "a", wantRefused: true},
			{kind: write, id: 2, token: "-1", value: "a", wantRefused: true},
			{kind: write, id: 3, token: "1e3", value: "a", wantRefused: true},
			{kind: write, id: 0, token: "1", value: "a", wantRefused: true},
			{kind: write, id: 4, token: "1", value: "", wantRefused: true},
			{kind: read, id: 5, token: "1", value: "x", wantRefused: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			store, log := newStore(t, test.mode)
			var handled int
			for i, st := range test.steps {
				answer, err := store.Handle(st.kind, Ask{Request: strconv.Itoa(st.id), Hold: "h", Key: "k", Token: st.token, Value: st.value, Base: st.base})
				if st.wantRefused {
					if !errors.Is(err, errBadRequest) {
						t.Errorf("step %d: error %v, want a bad request", i+1, err)
					}
					continue
				}
				handled++
				if err != nil || answer.Outcome != st.want || answer.Mark != st.wantMark {
					t.Errorf("step %d: %+v, %v; want %s with mark %s", i+1, answer, err, st.want, st.wantMark)
				}
				if st.kind == read && answer.Value != st.wantRead {
					t.Errorf("step %d: read %q, want %q", i+1, answer.Value, st.wantRead)
				}
			}
			if lines := readLog(t, log); len(lines) != handled {
				t.Errorf("%d log lines for %d handled requests", len(lines), handled)
			}
		})
	}
}

func TestARejectionSaysWhy(t *testing.T) {
	for _, test := range []struct {
		mode  Mode
		first Ask
		late  Ask
		want  string
	}{
		{fenced, Ask{Request: "1", Hold: "b", Key: "k", Token: "9", Value: "v1"}, Ask{Request: "2", Hold: "a", Key: "k", Token: "8", Value: "v2"}, "token 8 is lower than 9"},
		{cas, Ask{Request: "1", Hold: "b", Key: "k", Value: "v1"}, Ask{Request: "2", Hold: "a", Key: "k", Value: "v2", Base: "v0"}, `the value "v0" that it was built on is not the current one`},
	} {
		store, _ := newStore(t, test.mode)
		for range 2 { // the repetition gets the same answer
			if _, err := store.Handle(history.KindWrite, test.first); err != nil {
				t.Fatal(err)
			}
			if got, err := store.Handle(history.KindWrite, test.late); err != nil || got.Outcome != history.Rejected || got.Error != test.want {
				t.Errorf("%s: %+v, %v; want %q", test.mode.Kind, got, err, test.want)
			}
		}
	}
}

func TestUnknownResourceIsRefused(t *testing.T) {
	if _, err := NewStore(Mode{Kind: "cass"}, nil, nil); err == nil || !strings.Contains(err.Error(), `there is no resource "cass" (did you mean cas?); there are: plain, fenced, cas`) {
		t.Errorf("%v", err)
	}
}

// By the time that a packet comes once more, its base may have passed, or come.
func TestARepeatedWriteIsNotComparedAgain(t *testing.T) {
	store, _ := newStore(t, cas)
	applied, early := Ask{Request: "1", Hold: "a", Key: "k", Value: "v1"}, Ask{Request: "2", Hold: "b", Key: "k", Value: "v2", Base: "v3"}
	want := map[string]history.Outcome{"1": history.Applied, "2": history.Rejected, "3": history.Applied}
	for _, ask := range []Ask{applied, early, applied, {Request: "3", Hold: "c", Key: "k", Value: "v3", Base: "v1"}, early, applied} {
		if answer, err := store.Handle(history.KindWrite, ask); err != nil || answer.Outcome != want[ask.Request] {
			t.Errorf("request %s: %+v, %v", ask.Request, answer, err)
		}
	}
	if got, err := store.Handle(history.KindRead, Ask{Request: "4", Hold: "c", Key: "k"}); err != nil || got.Value != "v3" {
		t.Errorf("the repeats changed the register: %+v, %v", got, err)
	}
}

func TestRepeatedRequestGetsTheFirstAnswerAndDoesNothing(t *testing.T) {
	store, log := newStore(t, fenced)
	first := Ask{Request: "1", Hold: "hA", Key: "k", Token: "5", Value: "a"}
	write := func(ask Ask) Answer {
		t.Helper()
		answer, err := store.Handle(history.KindWrite, ask)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	before := write(first)
	write(Ask{Request: "2", Hold: "hB", Key: "k", Token: "6", Value: "b", Base: "a"})
	if again := write(first); again != before {
		t.Errorf("answered %+v, then %+v", before, again)
	}
	stale := Ask{Request: "3", Hold: "hA", Key: "k", Token: "5", Value: "c"}
	rejected := write(stale)
	if again := write(stale); rejected.Outcome != history.Rejected || again != rejected {
		t.Errorf("answered %+v, then %+v", rejected, again)
	}
	got, err := store.Handle(history.KindRead, Ask{Request: "4", Hold: "hB", Key: "k", Token: "6"})
	if err != nil || got.Value != "b" {
		t.Errorf("the repeated write changed the register: %+v, %v", got, err)
	}
	var outcomes []history.Outcome
	for i, line := range readLog(t, log) {
		if line.Seq != int64(i+1) {
			t.Errorf("line %d has seq %d", i+1, line.Seq)
		}
		outcomes = append(outcomes, line.Outcome)
	}
	want := []history.Outcome{history.Applied, history.Applied, history.Duplicate, history.Rejected, history.Duplicate, history.Applied}
	if len(outcomes) != len(want) {
		t.Fatalf("outcomes %v, want %v", outcomes, want)
	}
	for i := range want {
		if outcomes[i] != want[i] {
			t.Fatalf("outcomes %v, want %v", outcomes, want)
		}
	}
}

func TestRequestNumberUsedTwiceIsRefused(t *testing.T) {
	store, log := newStore(t, plain)
	if _, err := store.Handle(history.KindWrite, Ask{Request: "1", Hold: "h", Key: "k", Value: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Handle(history.KindWrite, Ask{Request: "1", Hold: "h", Key: "k", Value: "b"}); !errors.Is(err, errBadRequest) {
		t.Errorf("error %v, want a bad request", err)
	}
	if lines := readLog(t, log); len(lines) != 1 {
		t.Errorf("%d log lines, want 1", len(lines))
	}
}

func TestMarksAreKeptByKey(t *testing.T) {
	store, _ := newStore(t, fenced)
	for i, ask := range []Ask{
		{Request: "1", Hold: "h", Key: "a", Token: "9", Value: "x"},
		{Request: "2", Hold: "h", Key: "b", Token: "2", Value: "y"},
	} {
		if answer, err := store.Handle(history.KindWrite, ask); err != nil || answer.Outcome != history.Applied {
			t.Errorf("write %d: %+v, %v", i+1, answer, err)
		}
	}
}

// failingLog fails from the nth line on.
type failingLog struct {
	Log
	left int
}

func (l *failingLog) Write(p []byte) (int, error) {
	if l.left--; l.left < 0 {
		return 0, errors.New("disk full")
	}
	return l.Log.Write(p)
}

func TestWithoutItsLineARequestHasNoEffect(t *testing.T) {
	inner, _ := openLog(t)
	log := &failingLog{Log: inner, left: 1}
	store, err := NewStore(fenced, log, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Handle(history.KindWrite, Ask{Request: "1", Hold: "h", Key: "k", Token: "1", Value: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Handle(history.KindWrite, Ask{Request: "2", Hold: "h", Key: "k", Token: "2", Value: "b"}); !errors.Is(err, ErrLog) {
		t.Fatalf("error %v, want the log's", err)
	}
	if reg := store.keys["k"]; reg.value != "a" || reg.mark != "1" {
		t.Errorf("register %+v changed without a line", *reg)
	}
	log.left = 10
	if _, err := store.Handle(history.KindRead, Ask{Request: "3", Hold: "h", Key: "k"}); !errors.Is(err, ErrLog) {
		t.Errorf("error %v: a store whose log failed must not go on", err)
	}
}

func TestConcurrentRequestsAreNumberedInTheOrderOfTheirEffects(t *testing.T) {
	store, log := newStore(t, plain)
	var wait sync.WaitGroup
	for i := 1; i <= 200; i++ {
		wait.Go(func() {
			ask := Ask{Request: strconv.Itoa(i), Hold: "h", Key: "k"}
			kind := history.KindRead
			if i%2 == 0 {
				kind, ask.Value = history.KindWrite, "v"+ask.Request
			}
			if _, err := store.Handle(kind, ask); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	value := ""
	for i, line := range readLog(t, log) {
		if line.Seq != int64(i+1) {
			t.Fatalf("line %d has seq %d", i+1, line.Seq)
		}
		if line.Kind == history.KindWrite {
			value = line.Value
		} else if line.Value != value {
			t.Fatalf("seq %d read %q, the log says %q", line.Seq, line.Value, value)
		}
	}
}

func newStore(t *testing.T, mode Mode) (*Store, string) {
	t.Helper()
	log, name := openLog(t)
	store, err := NewStore(mode, log, func() int64 { return 7 })
	if err != nil {
		t.Fatal(err)
	}
	return store, name
}

func openLog(t *testing.T) (*os.File, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "resource.jsonl")
	log, err := OpenLog(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, name
}

func readLog(t *testing.T, name string) []history.Request {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []history.Request
	for scan := bufio.NewScanner(bytes.NewReader(raw)); scan.Scan(); {
		var line history.Request
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}
