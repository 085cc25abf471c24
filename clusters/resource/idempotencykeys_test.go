package resource

import (
	"strconv"
	"testing"

	"lockcheck/checker/history"
)

// The first record of a slot is applied; every other is answered as that one, does nothing, and its line names the first.
func TestASlotIsRecordedOnce(t *testing.T) {
	for _, kind := range history.OwnResourceNames() {
		t.Run(kind, func(t *testing.T) {
			store, log := newStore(t, Mode{Kind: history.Resource(kind), Keyed: true})
			write := func(id int, key, token, value, base string) Answer {
				t.Helper()
				answer, err := store.Handle(history.KindWrite, Ask{Request: strconv.Itoa(id), Hold: "h" + strconv.Itoa(id), Key: key, Token: token, Value: value, Base: base})
				if err != nil {
					t.Fatal(err)
				}
				return answer
			}
			first := write(1, "k", "5", "1/h1.1", "")
			write(2, "k", "6", "2/h2.2", "1/h1.1")
			for range 2 { // the repetition gets the same answer
				if late := write(3, "k", "4", "1/h3.3", ""); late != first {
					t.Errorf("answered %+v, and then %+v", first, late)
				}
			}
			if other := write(4, "l", "4", "1/h4.4", ""); other.Outcome != history.Applied || other.Value != "1/h4.4" {
				t.Errorf("the slot of another key: %+v", other)
			}
			if now, err := store.Handle(history.KindRead, Ask{Request: "9", Hold: "h9", Key: "k", Token: "6"}); err != nil || now.Value != "2/h2.2" {
				t.Errorf("the register holds %+v, %v", now, err)
			}
			lines := readLog(t, log)
			for i, want := range []string{"", "", "1", "1", "", ""} {
				if lines[i].First != want || (lines[i].Outcome == history.Duplicate) != (want != "") {
					t.Errorf("line %d: %+v", i+1, lines[i])
				}
			}
			if lines[2].Request != "3" || lines[2].Value != "1/h3.3" || lines[2].Mark != "6" {
				t.Errorf("the line of the late record: %+v", lines[2])
			}
		})
	}
}

// What was rejected recorded nothing: the slot is still free.
func TestARejectedRecordTakesNoSlot(t *testing.T) {
	store, _ := newStore(t, Mode{Kind: history.ResourceCAS, Keyed: true})
	for _, step := range []struct {
		id, value, base string
		want            history.Outcome
	}{{"1", "1/a", "0/x", history.Rejected}, {"2", "1/b", "", history.Applied}, {"3", "1/c", "", history.Applied}} {
		answer, err := store.Handle(history.KindWrite, Ask{Request: step.id, Hold: "h", Key: "k", Value: step.value, Base: step.base})
		if err != nil || answer.Outcome != step.want {
			t.Errorf("%s: %+v, %v", step.value, answer, err)
		}
	}
	if now, err := store.Handle(history.KindRead, Ask{Request: "4", Hold: "h", Key: "k"}); err != nil || now.Value != "1/b" {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestAWriteWithoutASlotHasNoKey(t *testing.T) {
	store, _ := newStore(t, Mode{Kind: history.ResourcePlain, Keyed: true})
	for _, value := range []string{"h1.1", "0/h1.1", "-1/h1.1", "01/h1.1", "1/", "1"} {
		if answer, err := store.Handle(history.KindWrite, Ask{Request: "1", Hold: "h", Key: "k", Value: value}); err == nil {
			t.Errorf("%s: %+v", value, answer)
		}
	}
}
