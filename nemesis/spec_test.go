package nemesis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Every spec that issue texts and the READMEs use, and what it means in full.
func TestSpecsAreUnderstood(t *testing.T) {
	cases := []struct{ spec, means string }{
		{"none", "none"},
		{"pause:holder", "pause:holder@work,1.5..2.2ttl"},
		{"pause:holder@acquire,1.5ttl", "pause:holder@acquire,1.5ttl"},
		{"pause:leader", "pause:leader,1.5..2.2ttl"},
		{"partition:leader", "partition:leader,1.5..2.2ttl"},
		{"partition:holder@work", "partition:holder@work,1.5..2.2ttl"},
		{"partition:holder-resource", "partition:holder-resource@work,1.5..2.2ttl"},
		{"partition:holder,in", "partition:holder@work,in,1.5..2.2ttl"},
		{"clock:majority+90s", "clock:majority+90s,0.5..1.5ttl"},
		{"clock:client,drift=5%", "clock:client,drift=5%,0.5..1.5ttl"},
		{"clock:one-2ttl,monotonic", "clock:one-2ttl,monotonic,0.5..1.5ttl"},
		{"kill:majority,empty", "kill:majority,empty,0.2..1ttl"},
		{"loss:holder,60%", "loss:holder@work,60%,0.5..2ttl"},
		{"failover@lost", "failover@lost,0.3..1ttl"},
		{"pause:holder,kill:one,500ms..1s", "pause:holder@work,1.5..2.2ttl | kill:one,0.5..1s"},
		{"partition:client(1)-node(4,5);clock:node(3)+2ttl", "partition:client(1)-node(4,5) ; clock:node(3)+2ttl,0.5..1.5ttl"},
	}
	for _, c := range cases {
		spec, err := Parse(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if got := meaning(spec); got != c.means {
			t.Errorf("%s means %s, want %s", c.spec, got, c.means)
		}
		if again, err := Parse(strings.NewReplacer(" | ", ",", " ; ", ";").Replace(c.means)); err != nil || meaning(again) != c.means {
			t.Errorf("%s does not mean itself: %s, %v", c.means, meaning(again), err)
		}
	}
}

func meaning(spec Spec) string {
	var steps []string
	for _, mix := range spec {
		var faults []string
		for _, f := range mix {
			faults = append(faults, f.String())
		}
		steps = append(steps, strings.Join(faults, " | "))
	}
	return strings.Join(steps, " ; ")
}

// A bad spec is answered with the part that is wrong and what could stand there.
func TestBadSpecsAreAnsweredWithTheWrongPart(t *testing.T) {
	cases := []struct {
		spec string
		says []string
	}{
		{"", []string{`""`, "pause, partition"}},
		{"pauze", []string{`"pauze"`, "pause, partition"}},
		{"pause:leadr", []string{`"pause:leadr"`, `"leadr"`, "leader"}},
		{"pause:holder@wrok", []string{`"@wrok"`, "@work"}},
		{"pause:holder,2tlt", []string{`"2tlt"`, "1.5ttl"}},
		{"pause:holder+2s", []string{"pause takes no shift"}},
		{"clock:resource+1s", []string{"takes no target resource"}},
		{"pause:holder,empty", []string{"takes no option empty"}},
		{"pause:holder-leader", []string{"takes no other side"}},
		{"kill:node(0)", []string{`"0"`}},
		{"kill:node(1,1)", []string{"each once"}},
		{"kill:leader(1)", []string{"leader takes no numbers"}},
		{"kill:node(1", []string{"no closing parenthesis"}},
		{"clock:one,drift=fast", []string{`"fast"`, "5%"}},
		{"clock:one,drift=-100%", []string{"-99%"}},
		{"clock:one,drift=NaN%", []string{"-99%"}},
		{"clock:one,wall,monotonic", []string{"wall and monotonic exclude each other"}},
		{"partition:holder,in,out", []string{"in and out exclude each other", "both ways"}},
		{"loss:holder,out,10%,in", []string{"in and out exclude each other"}},
		{"loss:holder,130%", []string{"at most 100%"}},
		{"pause:holder,3..2ttl", []string{"3..2ttl"}},
		{"pause:holder,NaNs", []string{`"NaNs"`}},
		{"pause:holder;pause:client,kill:one", []string{"step 2", "mixes"}},
		{"pause:holder,1s;kill:one", []string{"step 1", "duration"}},
		{"pause:holder;none", []string{"step 2", "does nothing"}},
		{"none,pause", []string{`"none" cannot be mixed`}},
		{"failover:leader", []string{"failover takes no target"}},
		{"none,1s", []string{"none takes no duration"}},
	}
	for _, c := range cases {
		spec, err := Parse(c.spec)
		if err == nil {
			t.Errorf("%q was taken for %s", c.spec, meaning(spec))
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: the error does not say %q: %v", c.spec, part, err)
			}
		}
	}
}

// A number that no client or server will have is refused before the run; where it is not known how many there will be, any will do.
func TestUnknownNumbersAreRefused(t *testing.T) {
	plan := Plan{Seed: 1, TTL: time.Second, Limit: time.Second, Servers: 3, Clients: 5}
	cases := []struct{ spec, says string }{
		{"kill:node(3)", ""},
		{"kill:node(4)", "there is no node(4): the run has 3 servers"},
		{"pause:client(5)", ""},
		{"pause:client(1,6)", "there is no client(6): the run has 5 clients"},
		{"partition:client(1)-node(3,4);clock:node(3)+2ttl", "there is no node(4)"},
	}
	for _, c := range cases {
		switch _, err := New(c.spec, plan); {
		case err == nil && c.says != "":
			t.Errorf("%s was accepted", c.spec)
		case err != nil && (c.says == "" || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", c.spec, err, c.says)
		}
		if _, err := New(c.spec, Plan{Seed: 1, TTL: time.Second, Limit: time.Second}); err != nil {
			t.Errorf("%s, of an unknown number: %v", c.spec, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, k := range Kinds {
		f.Add(k.Name)
		f.Add(k.Default)
	}
	f.Add("partition:client(1)-node(4,5);clock:node(3)+2ttl@work,drift=5%,30%")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse(text)
		if err != nil {
			return
		}
		if ascii(text) && !pattern.MatchString(text) {
			t.Errorf("the pattern refuses %q", text)
		}
		drawSchedule(spec, Plan{Seed: 1, TTL: time.Second, Limit: 2 * time.Second})
		again, err := Parse(strings.NewReplacer(" | ", ",", " ; ", ";").Replace(meaning(spec)))
		if err != nil || meaning(again) != meaning(spec) {
			t.Errorf("%q means %s, which means %s, %v", text, meaning(spec), meaning(again), err)
		}
	})
}

// What each kind of fault is for comes first and at least every second time, with magnitudes around the interesting
// point.
func TestSchedulesAreStratified(t *testing.T) {
	for _, spec := range []string{"pause", "partition", "kill", "clock", "failover", "loss", "pause,partition"} {
		for _, ttl := range []time.Duration{time.Second, 10 * time.Second} {
			for seed := range int64(100) {
				s := draw(t, spec, seed, ttl)
				if first := s.rounds[0]; first.Gap > 2*time.Second {
					t.Fatalf("%s, seed %d: the first fault comes after %v", spec, seed, first.Gap)
				}
				firsts := map[string]bool{}
				for i, round := range s.rounds {
					step := round.Steps[0]
					essential := mustParse(t, step.Kind)[0][0]
					if i%2 == 0 && step.Fault.String() != essential.String() {
						t.Fatalf("%s, seed %d: place %d is %s, want %s", spec, seed, i, step.Fault, essential)
					}
					if low, high := step.For.bounds(ttl); step.Hold < low || step.Hold > high {
						t.Fatalf("%s, seed %d: %s lasts %v", spec, seed, step.Fault, step.Hold)
					}
					if step.WorkFraction < 0.1 || step.WorkFraction > 0.5 {
						t.Fatalf("%s, seed %d: a fault %v into the work", spec, seed, step.WorkFraction)
					}
					firsts[step.Kind] = true
				}
				if want := strings.Count(spec, ",") + 1; len(firsts) != want && len(s.rounds) >= 2*want {
					t.Fatalf("%s, seed %d: %d rounds of only %v", spec, seed, len(s.rounds), firsts)
				}
			}
		}
	}
}

func (r Range) bounds(ttl time.Duration) (low, high time.Duration) {
	unit := float64(time.Second)
	if r.TTL {
		unit = float64(ttl)
	}
	return time.Duration(r.Low*unit) - time.Millisecond, time.Duration(r.High*unit) + time.Millisecond
}

func mustParse(t *testing.T, spec string) Spec {
	t.Helper()
	parsed, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func draw(t *testing.T, spec string, seed int64, ttl time.Duration) *schedule {
	t.Helper()
	return drawSchedule(mustParse(t, spec), Plan{Seed: seed, TTL: ttl, Limit: time.Minute})
}

func TestOneSeedDrawsOneSchedule(t *testing.T) {
	for _, k := range Kinds[1:] {
		if !slices.Equal(draw(t, k.Name, 7, time.Second).Steps(), draw(t, k.Name, 7, time.Second).Steps()) {
			t.Errorf("%s: seed 7 draws two schedules", k.Name)
		}
		if slices.Equal(draw(t, k.Name, 7, time.Second).Steps(), draw(t, k.Name, 8, time.Second).Steps()) {
			t.Errorf("%s: seeds 7 and 8 draw the same schedule", k.Name)
		}
	}
}
