package hunt

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// The signature of a find says who broke the promise and what the clients did; times, names and faults are no part of it.
func TestTheSignatureOfAFind(t *testing.T) {
	for want, f := range map[string]Find{
		"stale-write: acquire | acquire, write": {Property: model.StaleWrite, Shape: "acquire | acquire, write"},
		"early-expiry by etcd: acquire":         {Property: model.EarlyExpiry, Party: "etcd", Shape: "acquire"},
		"liveness by etcd":                      {Property: model.Liveness, Party: "etcd"},
	} {
		if got := signature(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheShapeOfAWitness(t *testing.T) {
	event := func(process string, kind history.Type, f history.F) history.Event {
		return history.Event{Process: process, Client: process, Type: kind, F: f, Key: "k1", Hold: "h1", Op: 1}
	}
	for want, events := range map[string][]history.Event{
		"acquire | acquire, write":  {event("c2", "invoke", "acquire"), event("c2", "ok", "acquire"), event("c1", "ok", "acquire"), event("c1", "ok", "renew"), event("c1", "ok", "write"), event("c1", "ok", "release")},
		"acquire info | acquire":    {event("c7", "info", "acquire"), event("c7", "info", "exit"), event("c1", "ok", "acquire"), event("c1", "ok", "lost")},
		"acquire, release, acquire": {event("c1", "ok", "acquire"), event("c1", "ok", "release"), event("c1", "ok", "acquire"), event("c1", "ok", "release")},
		"acquire, release info":     {event("c1", "ok", "acquire"), event("c1", "info", "release")},
	} {
		parts := strings.Split(want, " | ")
		slices.Sort(parts)
		if got := shape(events); got != strings.Join(parts, " | ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := shape(nil); got != "" {
		t.Errorf("without a witness: %q", got)
	}
}

// How many clients had the lock in between is no part of a shape; that there were two is.
func TestBystandersAreLeftOut(t *testing.T) {
	for _, test := range [][2]string{
		{"acquire | acquire, write | acquire, write", "acquire, write | acquire, write"},
		{"acquire | acquire | acquire", "acquire | acquire"},
		{"acquire | acquire, write", "acquire | acquire, write"},
		{"acquire | acquire | acquire, write", "acquire | acquire, write"},
		{"acquire, read | acquire, write | acquire, writeback", "acquire, read | acquire, write | acquire, writeback"},
		{"acquire", "acquire"},
	} {
		if got := strings.Join(withoutBystanders(strings.Split(test[0], " | ")), " | "); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
}
