package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
)

const aScenario = `title: t
reference: r
teaches: l
backend: etcd
nemesis: pause
client: mine
until: stale-write
set: {a: "2"}
expect:
  stale-write: {verdict: violation, cause: pause of holder}
  lost-update: [pass, violation]
measured: {seeds: 20, reproduced: 19, date: 2026-01-31}
contrast:
  because: b
  workload: fencing
  client:
  expect: {stale-write: pass}
`

var scenarioMenu = func() Known {
	k := menu
	k.Settings = append(slices.Clone(k.Settings), Setting{Name: compare.FlagUntil})
	return k
}()

func TestReadAScenario(t *testing.T) {
	s, err := ParseScenario("s.yaml", "s", []byte(aScenario), scenarioMenu)
	if err != nil {
		t.Fatal(err)
	}
	flags := func(h Half) (all []string) {
		for _, f := range h.Flags {
			all = append(all, f.Name+"="+f.Value)
		}
		return all
	}
	if got := strings.Join(flags(s.Failure), " "); got != "backend=etcd nemesis=pause client=mine until=stale-write set=a=2" {
		t.Errorf("the failure's flags are %s", got)
	}
	if got := strings.Join(flags(s.Contrast), " "); got != "backend=etcd nemesis=pause set=a=2 workload=fencing" {
		t.Errorf("the contrast's flags are %s: it has the failure's, without until, and without what it takes away", got)
	}
	e := s.Failure.Expect
	if len(e) != 2 || e[0].Cause != "pause of holder" || !slices.Equal(e[1].Verdicts, []model.Verdict{model.Pass, model.Violation}) {
		t.Errorf("it expects %+v", e)
	}
	if !s.Failure.ExpectsViolation() || s.Contrast.ExpectsViolation() || s.Contrast.Because != "b" || s.Failure.Backend() != "etcd" || *s.Measured != (Measured{20, 19, "2026-01-31"}) {
		t.Errorf("read as %+v", s)
	}
}

// A lock client that scripts/libraries builds is a client; another one takes its place.
func TestAClientThatHasToBeBuilt(t *testing.T) {
	text := strings.Replace(aScenario, "client: mine", "library: theirs -poll", 1)
	for contrast, want := range map[string]string{"client:": "", "client: mine": "", "library: third": "third", "because: b2": "theirs"} {
		with := strings.Replace(text, "  client:\n", "  "+contrast+"\n", 1)
		if contrast == "because: b2" {
			with = strings.Replace(text, "  client:\n", "", 1)
		}
		s, err := ParseScenario("s.yaml", "s", []byte(with), scenarioMenu)
		if err != nil || s.Failure.Library != "theirs" || s.Contrast.Library != want || !slices.Contains(s.Failure.Flags, compare.Flag{Name: "client", Value: "./.cache/libraries/theirs -poll"}) {
			t.Errorf("%q: %q and %q, want %q (%v)", contrast, s.Failure.Library, s.Contrast.Library, want, err)
		}
	}
}

// Each is a change to the file above, and the place and some words of what is said of it.
func TestScenariosRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, with, want string }{
		"an unknown key":                {"teaches: l", "teeches: l", `s.yaml:3:1: the scenario has no key "teeches" (did you mean teaches?)`},
		"no title":                      {"title: t\n", "", "s.yaml:1:1: the scenario needs title"},
		"no contrast":                   {aScenario[strings.Index(aScenario, "contrast:"):], "", "s.yaml:1:1: the scenario needs contrast"},
		"an unknown backend":            {"backend: etcd", "backend: etc", `s.yaml:4:10: there is no backend "etc" (did you mean etcd?)`},
		"an unknown nemesis":            {"nemesis: pause", "nemesis: paus", `s.yaml:5:10: nemesis "paus": there is no such fault`},
		"an unknown workload":           {"workload: fencing", "workload: sleep", `s.yaml:15:13: there is no workload "sleep"`},
		"an unknown property":           {"  lost-update:", "  lost-updte:", `s.yaml:11:3: there is no property "lost-updte" (did you mean lost-update?)`},
		"an unknown verdict":            {"verdict: violation", "verdict: violated", `s.yaml:10:26: there is no verdict "violated"; there are: violation, masked`},
		"an unknown is expected":        {"verdict: violation", "verdict: inconclusive", "s.yaml:10:26: inconclusive cannot be expected"},
		"a cause without its verdict":   {"{verdict: violation, cause", "{cause", "s.yaml:10:16: what is expected of stale-write needs verdict"},
		"a flag without a value":        {"client: mine", "client:", "s.yaml:6:8: client is a word, not nothing"},
		"nothing is expected":           {"expect:\n  stale-write: {verdict: violation, cause: pause of holder}\n  lost-update: [pass, violation]", "expect: {}", "s.yaml:9:9: expect names no property"},
		"a contrast without its reason": {"  because: b\n", "", "s.yaml:14:3: contrast needs because"},
		"a contrast that is a word":     {aScenario[strings.Index(aScenario, "contrast:"):], "contrast: none", `s.yaml:13:11: contrast is a mapping (name: value), not "none"`},
		"a contrast of its own title":   {"  because: b", "  because: b\n  title: t", `s.yaml:15:3: contrast has no key "title"`},
		"more than was run":             {"reproduced: 19", "reproduced: 21", "s.yaml:12:11: measured needs seeds, reproduced and date"},
		"no number":                     {"seeds: 20", "seeds: many", "s.yaml:12:19: seeds is a number"},
		"no date":                       {"2026-01-31", "yesterday", "s.yaml:12:45: date is a day"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(aScenario, test.old, test.with, 1)
			if text == aScenario {
				t.Fatal("nothing was changed")
			}
			if _, err := ParseScenario("s.yaml", "s", []byte(text), scenarioMenu); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %q", err, test.want)
			}
		})
	}
	if _, err := ParseScenario("s.yaml", "s", nil, scenarioMenu); err == nil || err.Error() != "s.yaml:1:1: the file is empty" {
		t.Errorf("of an empty file: %v", err)
	}
}

// What a run cannot be made with is told at its place: that of the half which sets it.
func TestWhereAFlagOfAScenarioStands(t *testing.T) {
	s, err := ParseScenario("s.yaml", "s", []byte(strings.Replace(aScenario, "  client:\n", "  set: {a: \"3\"}\n", 1)), scenarioMenu)
	if err != nil {
		t.Fatal(err)
	}
	for want, at := range map[string]struct {
		half HalfName
		flag compare.Flag
	}{
		"s.yaml:4:10: x":  {Contrast, compare.Flag{Name: "backend", Value: "etcd"}},
		"s.yaml:5:10: x":  {Failure, compare.Flag{Name: "nemesis", Value: "pause"}},
		"s.yaml:6:9: x":   {Contrast, compare.Flag{Name: "client", Value: "mine"}},
		"s.yaml:8:10: x":  {Failure, compare.Flag{Name: "set", Value: "a=2"}},
		"s.yaml:15:13: x": {Contrast, compare.Flag{Name: "workload", Value: "fencing"}},
		"s.yaml:16:12: x": {Contrast, compare.Flag{Name: "set", Value: "a=3"}},
	} {
		if got := s.Mistake(at.half, at.flag, errors.New("x")).Error(); got != want {
			t.Errorf("%s of the %s: %s, want %s", at.flag.Name, at.half, got, want)
		}
	}
}
