package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

const someFinds = `known:
  - property: early-expiry
    party: etcd
    shape: acquire, write | acquire
    reason: fixed in the next version
  - {property: stale-write, reason: the resource checks no token}
`

func TestReadKnownFinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "finds.yaml")
	if err := os.WriteFile(path, []byte(someFinds), 0o644); err != nil {
		t.Fatal(err)
	}
	finds, err := ReadFinds(path)
	if err != nil || len(finds) != 2 || finds[1].Line != 6 || finds[1].File != path {
		t.Fatalf("%+v, %v", finds, err)
	}
	for _, test := range []struct {
		n            int
		property     model.Name
		party, shape string
		want         bool
	}{
		{0, model.EarlyExpiry, "etcd", "acquire, write | acquire", true},
		{0, model.EarlyExpiry, "etcd", "acquire | acquire", false},
		{0, model.EarlyExpiry, "the lock client of etcd", "acquire, write | acquire", false},
		{0, model.StaleWrite, "etcd", "acquire, write | acquire", false},
		{1, model.StaleWrite, "", "acquire", true},
		{1, model.LostUpdate, "", "acquire", false},
	} {
		if got := finds[test.n].Is(test.property, test.party, test.shape); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
	if finds, err := ParseFinds("f.yaml", []byte("known: []\n")); err != nil || len(finds) != 0 {
		t.Errorf("none is known: %v, %v", finds, err)
	}
}

// Each is a change to the file above, and the place and some words of what is said of it.
func TestKnownFindsRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, with, want string }{
		"an unknown key":      {"known:", "knwon:", `f.yaml:1:1: the file has no key "knwon" (did you mean known?)`},
		"no key":              {someFinds, "{}\n", "f.yaml:1:1: known is missing"},
		"nothing":             {someFinds, "", "f.yaml:1:1: the file is empty"},
		"an unknown property": {"property: early-expiry", "property: early-expry", `f.yaml:2:15: there is no property "early-expry" (did you mean early-expiry?)`},
		"no property":         {"property: early-expiry\n    ", "", "f.yaml:2:5: a known find needs property"},
		"no reason":           {"    reason: fixed in the next version\n", "", "f.yaml:2:5: a known find needs a reason"},
		"another key":         {"shape:", "shap:", `f.yaml:4:5: a known find has no key "shap" (did you mean shape?)`},
		"a party of nothing":  {"party: etcd", "party:", "f.yaml:3:11: party is a word, not nothing"},
		"no list":             {someFinds, "known: early-expiry\n", `f.yaml:1:8: known is a list, not "early-expiry"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(someFinds, test.old, test.with, 1)
			if _, err := ParseFinds("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %q", err, test.want)
			}
		})
	}
}

func FuzzParseFinds(f *testing.F) {
	f.Add(someFinds)
	f.Fuzz(func(t *testing.T, text string) {
		finds, err := ParseFinds("f.yaml", []byte(text))
		for _, find := range finds {
			if err != nil || find.Property == "" || find.Reason == "" {
				t.Errorf("%+v is taken, %v", find, err)
			}
		}
	})
}

// What is left out stands for any, and none for finds that have no such part: the one does not hide what comes later.
func TestAFindWithoutAPartIsListedAsNone(t *testing.T) {
	for _, test := range []struct {
		known       Find
		party       string
		shape       string
		want, other bool // of a find with that party and shape, and of one by etcd with another shape
	}{
		{Find{Property: model.StaleWrite}, "", "", true, true},
		{Find{Property: model.StaleWrite, Party: NoPart}, "", "acquire", true, false},
		{Find{Property: model.StaleWrite, Shape: NoPart}, "etcd", "", true, false},
		{Find{Property: model.StaleWrite, Party: "etcd"}, "", "", false, true},
	} {
		if got, other := test.known.Is(model.StaleWrite, test.party, test.shape), test.known.Is(model.StaleWrite, "etcd", "write"); got != test.want || other != test.other {
			t.Errorf("%+v: %t, and of another %t", test.known, got, other)
		}
	}
}
