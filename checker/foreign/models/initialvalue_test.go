package models

import (
	"strings"
	"testing"

	"lockcheck/checker/foreign/jepsen"
)

func value(t *testing.T, text string) jepsen.Value {
	t.Helper()
	v, err := jepsen.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func begun(t *testing.T, m *Model, initial string) *Model {
	t.Helper()
	if initial == "" {
		return m
	}
	begun, err := m.BeginsAs(value(t, initial))
	if err != nil {
		t.Fatal(err)
	}
	return begun
}

const (
	firstReadsZero = "0 :invoke :read nil\n0 :ok :read 0\n"
	firstSwapsZero = "0 :invoke :cas [0 1]\n0 :ok :cas [0 1]\n1 :invoke :read nil\n1 :ok :read 1\n"
)

func TestInitialValues(t *testing.T) {
	for name, c := range map[string]struct {
		history, initial string
		want             Answer
		with             string // Result.Initial
		reason           string
	}{
		"read 0, and began as nil":       {firstReadsZero, "", no, "0", "process 0 read 0 although the register began as nil"},
		"read 0, and began as 0":         {firstReadsZero, "0", yes, "", ""},
		"read 0, and began as 0.0":       {firstReadsZero, "0.0", no, "0", "process 0 read 0 although the register began as 0.0"},
		"read 0, and began as 1":         {firstReadsZero, "1", no, "0", "process 0 read 0 although the register began as 1"},
		"swapped 0, and began as nil":    {firstSwapsZero, "", no, "0", "process 0 swapped 0 for 1 although the register began as nil"},
		"swapped 0, and began as 0":      {firstSwapsZero, "0", yes, "", ""},
		"read 0 after it was written":    {"0 :invoke :write 0\n0 :ok :write 0\n" + firstReadsZero, "", yes, "", ""},
		"read 0 while it was written":    {"1 :invoke :write 0\n" + firstReadsZero + "1 :ok :write 0\n", "", yes, "", ""},
		"read 0 after 1 was written":     {"0 :invoke :write 1\n0 :ok :write 1\n" + firstReadsZero, "", no, "", "1 operation that no order of a cas-register explains"},
		"the same, and began as 0":       {"0 :invoke :write 1\n0 :ok :write 1\n" + firstReadsZero, "0", no, "", "2 operations that no order of a cas-register explains"},
		"read 0 while 1 was written":     {"1 :invoke :write 1\n" + firstReadsZero + "1 :ok :write 1\n", "", no, "0", "process 0 read 0 although the register began as nil"},
		"two values at first":            {firstReadsZero + "0 :invoke :read nil\n0 :ok :read 1\n", "", no, "0", "process 0 read 0 although the register began as nil"},
		"two values, and began as 0":     {firstReadsZero + "0 :invoke :read nil\n0 :ok :read 1\n", "0", no, "", "1 operation that no order of a cas-register explains"},
		"reads of nil say nothing":       {"0 :invoke :read nil\n0 :ok :read nil\n" + firstReadsZero, "0", yes, "", ""},
		"the swap explains what is read": {"1 :invoke :cas [0 1]\n0 :invoke :read nil\n0 :ok :read 1\n1 :ok :cas [0 1]\n", "", no, "0", "process 1 swapped 0 for 1 although the register began as nil"},
		"a value of any kind":            {"0 :invoke :read nil\n0 :ok :read #{2 1}\n", "#{1 2}", yes, "", ""},
	} {
		m := begun(t, CASRegister, c.initial)
		got, err := Check(m, recorded(t, c.history), DefaultSteps)
		if err != nil || got.Answer != c.want || got.Initial != c.with || got.Reason != c.reason {
			t.Errorf("%s: %s, %q with %q, %v", name, got.Answer, got.Reason, got.Initial, err)
		}
		if got.Initial != "" && len(got.Counterexample) == 0 {
			t.Errorf("%s: the counterexample is missing", name)
		}
	}
}

// A register that was told to begin as something is another model than the one it was made of.
func TestBeginningChangesNoOtherModel(t *testing.T) {
	zero := begun(t, Register, "0")
	if zero.Initial() != "0" || Register.Initial() != "nil" || zero.stricter.initial != "0" || Register.stricter.initial != "nil" {
		t.Fatalf("%q and %q", zero.Initial(), Register.Initial())
	}
	for _, m := range []*Model{Mutex, OwnerMutex, FencedMutex} {
		if _, err := m.BeginsAs(value(t, "0")); err == nil || !strings.Contains(err.Error(), "only registers have (register, cas-register)") || m.Initial() != "" {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// Taken as a value, nil has to be there: at first it is where a register began as nil.
func TestReadsOfNilOfARegisterThatBeganAsZero(t *testing.T) {
	ops := recorded(t, "0 :invoke :read nil\n0 :ok :read nil\n"+firstReadsZero)
	got, err := Check(begun(t, Register, "0"), ops, DefaultSteps)
	if err != nil || got.Answer != Legal || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "taken as the value nil they make this a violation") {
		t.Errorf("%+v, %v", got, err)
	}
	ops = recorded(t, "0 :invoke :read nil\n0 :ok :read nil\n0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :read nil\n0 :ok :read 1\n")
	if got, err := Check(Register, ops, DefaultSteps); err != nil || got.Answer != Legal || len(got.Notes) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
