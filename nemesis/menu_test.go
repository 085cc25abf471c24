package nemesis

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// What a menu draws is what a user could ask for: it is printed, read, drawn into a schedule, and that read from a plan file again.
func TestWhatAMenuDrawsParsesPrintsAndReplays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, m := range menus() {
		t.Run(name, func(t *testing.T) {
			for range 2000 {
				drawsAPlan(t, m, m.Draw(r))
			}
		})
	}
}

func drawsAPlan(t *testing.T, m Menu, spec Spec) {
	t.Helper()
	text := spec.String()
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if again.String() != text {
		t.Fatalf("%s is printed as %s", text, again)
	}
	plan := m.Conditions
	drawn, err := New(text, plan)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	replayed, err := FromSchedule(drawn.Schedule(), plan)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !slices.Equal(replayed.Steps(), drawn.Steps()) {
		t.Fatalf("%s is replayed as %v, want %v", text, replayed.Steps(), drawn.Steps())
	}
	if m.Takes != nil && !m.Takes(spec) {
		t.Fatalf("%s is not taken", text)
	}
}

func menus() map[string]Menu {
	whole := Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Fronts: 2, ResourceUnderTest: true, Limit: 12 * time.Second}
	alone := Conditions{TTL: time.Second, Servers: 1, Clients: 2, Leaderless: true, Diskless: "it keeps nothing", Limit: 12 * time.Second}
	return map[string]Menu{
		"all":       {Conditions: whole, Constants: []time.Duration{2 * time.Second, 15 * time.Second}},
		"one alone": {Conditions: alone, Takes: func(s Spec) bool { return s[0][0].Kind != string(history.DelayFault) }},
		"attached":  {Conditions: Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Attached: true, Limit: 12 * time.Second}},
	}
}

// All of the grammar comes up: each kind with each target, trigger, other side and word that it takes.
func TestAllOfTheGrammarIsDrawn(t *testing.T) {
	m := menus()["all"]
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	numbers, steps := map[string]bool{}, map[int]bool{}
	for range 60_000 {
		spec := m.Draw(r)
		steps[len(spec)] = true
		for _, mix := range spec {
			for _, feature := range mix[0].features() {
				seen[feature] = true
			}
			if len(mix[0].Target.Numbers) > 0 {
				numbers[mix[0].Target.Name] = true
			}
		}
	}
	for _, k := range Kinds[1:] {
		for _, target := range k.Targets {
			if !seen[k.Name+":"+target] {
				t.Errorf("%s is never aimed at %s", k.Name, target)
			}
		}
		for _, trigger := range triggers {
			if !seen[k.Name+"@"+string(trigger.name)] {
				t.Errorf("%s never comes @%s", k.Name, trigger.name)
			}
		}
		for _, word := range k.Options {
			if !seen[k.Name+","+word] {
				t.Errorf("%s never has %s", k.Name, word)
			}
		}
		for _, peer := range roleNames() {
			if _, err := Parse(k.Name + ":client-" + peer); k.Takes.Peer && err == nil && !seen[k.Name+"-"+peer] {
				t.Errorf("%s never has %s on its other side", k.Name, peer)
			}
		}
	}
	if !reflect.DeepEqual(steps, map[int]bool{1: true, 2: true, 3: true}) || !numbers[roleClient] || !numbers[roleServer] {
		t.Errorf("drawn are sequences of %v steps, and numbers of %v", steps, numbers)
	}
}

// The covering array has each kind with each of its targets, in few steps.
func TestSinglesCoverEachPart(t *testing.T) {
	m := menus()["all"]
	singles := m.Singles(rand.New(rand.NewPCG(5, 6)))
	seen := map[string]bool{}
	for _, s := range singles {
		drawsAPlan(t, m, s)
		for _, feature := range s[0][0].features() {
			seen[feature] = true
		}
	}
	for _, k := range Kinds[1:] {
		for _, target := range k.Targets {
			if !seen[k.Name+":"+target] {
				t.Errorf("%s is never aimed at %s", k.Name, target)
			}
		}
	}
	if len(singles) > 200 {
		t.Errorf("%d single steps", len(singles))
	}
}

// Each mutation changes something, and what it makes is what a user could ask for.
func TestMutationsMakeOtherSpecs(t *testing.T) {
	m := menus()["all"]
	r := rand.New(rand.NewPCG(7, 8))
	made := map[Mutation]int{}
	for range 300 {
		s, other := m.Draw(r), m.Draw(r)
		before := s.String()
		for _, by := range Mutations() {
			mutated, ok := m.Mutate(r, by, s, other)
			if s.String() != before {
				t.Fatalf("%s changed the spec that it was given: %s became %s", by, before, s)
			}
			if !ok {
				continue
			}
			made[by]++
			drawsAPlan(t, m, mutated)
			if mutated.String() == before || len(mutated) > MostSteps {
				t.Fatalf("%s made %s of %s", by, mutated, before)
			}
			if was := len(s); by == Add && len(mutated) != was+1 || by == Drop && len(mutated) != was-1 {
				t.Fatalf("%s made %s of %s", by, mutated, before)
			}
		}
	}
	for _, by := range Mutations() {
		if made[by] < 50 {
			t.Errorf("%s made %d specs of 300", by, made[by])
		}
	}
}

func TestKindsOfNamesEachKind(t *testing.T) {
	for text, want := range map[string]string{
		"pause":                               "pause",
		"kill:one,pause:client,kill:leader":   "kill,pause",
		"partition:leader;pause:holder@work":  "partition;pause",
		"pause:leader;pause:holder@work,1ttl": "pause;pause",
	} {
		spec, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.KindsOf(); got != want {
			t.Errorf("%s has the kinds %s, want %s", text, got, want)
		}
	}
}

// The same seed draws the same.
func TestAMenuDrawsTheSameAgain(t *testing.T) {
	m := menus()["all"]
	draw := func() (all string) {
		r := rand.New(rand.NewPCG(9, 10))
		for range 50 {
			s := m.Draw(r)
			mutated, _ := m.Mutate(r, oneOf(r, Mutations()), s, m.Draw(r))
			all += fmt.Sprintln(s, mutated, s.KindsOf())
		}
		return all
	}
	if first, second := draw(), draw(); first != second {
		t.Error("two draws of one seed differ")
	}
}
