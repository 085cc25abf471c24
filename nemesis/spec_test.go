package nemesis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// understoodSpecs are specs of every kind with their full meaning. The test of a new fault adds its own.
var understoodSpecs = []struct{ spec, means string }{
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
	{"delay:holder-servers,300ms±100ms", "delay:holder-servers@work,0.3s±0.1s,0.5..2ttl"},
	{"delay:leader,0.2..0.4ttl+-0.1ttl,in,3s", "delay:leader,0.2..0.4ttl±0.1ttl,in,3s"},
	{"delay:one", "delay:one,0.25ttl,0.5..2ttl"},
	{"disk:leader,2ttl", "disk:leader,2ttl"},
	{"disk:one@work,slow=50ms,syncs,writes", "disk:one@work,slow=50ms,syncs,writes,1.5..2.2ttl"},
	{"disk:one,error;disk:one,stall", "disk:one,error ; disk:one,stall,1.5..2.2ttl"},
	{"disk:leader,stall;disk:follower,error", "disk:leader,stall ; disk:follower,error,1.5..2.2ttl"},
	{"disk:one,stall,writes;disk:one,error,reads", "disk:one,stall,writes ; disk:one,error,reads,1.5..2.2ttl"},
	{"power:leader", "power:leader"},
	{"power:majority@work,at-once", "power:majority@work,at-once"},
	{"power:all,torn,journaled,0.5ttl", "power:all,torn,journaled,0.5ttl"},
	{"failover@lost", "failover@lost,0.3..1ttl"},
	{"rate:leader,1mbit", "rate:leader,1mbit,1.5..3ttl"},
	{"rate:holder,0.5mbit,2ttl", "rate:holder@work,500kbit,2ttl"},
	{"rate:client,8001bit", "rate:client,8001bit,1.5..3ttl"},
	{"slow:holder", "slow:holder@work,10%,1.5..3ttl"},
	{"slow:leader,2.5%,1s", "slow:leader,2.5%,1s"},
	{"restart:all,rolling", "restart:all,rolling,0.1..0.5ttl"},
	{"restart:node(1,2),rolling", "restart:node(1,2),rolling,0.1..0.5ttl"},
	{"slow:client(1);slow:client(2),20%", "slow:client(1),10% ; slow:client(2),20%,1.5..3ttl"},
	{"rate:leader,1mbit;rate:holder", "rate:leader,1mbit ; rate:holder@work,64kbit,1.5..3ttl"},
	{"pause:holder,kill:one,500ms..1s", "pause:holder@work,1.5..2.2ttl | kill:one,0.5..1s"},
	{"partition:client(1)-node(4,5);clock:node(3)+2ttl", "partition:client(1)-node(4,5) ; clock:node(3)+2ttl,0.5..1.5ttl"},
}

// Every spec that issue texts and the READMEs use, and what it means in full.
func TestSpecsAreUnderstood(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range understoodSpecs {
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
		for _, mix := range spec {
			for _, f := range mix {
				seen[f.Kind] = true
			}
		}
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("no case says what %s means in full", name)
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
		{"delay:client,0", []string{`"0"`, "300ms±100ms", "above 0"}},
		{"delay:client,50ms±100ms", []string{"before they were sent", "less than 0.05s"}},
		{"delay:client,50ms±", []string{"behind ±"}},
		{"delay:client,50ms±0.1ttl", []string{"one unit"}},
		{"delay:client,50ms±10ms..20ms", []string{"one magnitude"}},
		{"delay:client,10us", []string{"1ms"}},
		{"delay:client,2h", []string{"1m0s"}},
		{"delay:client,30%", []string{"takes no share"}},
		{"delay:client,50ms,in,out", []string{"exclude each other"}},
		{"delay:all", []string{"target all", "holder"}},
		{"delay:client,1mbit", []string{"takes no rate (1mbit)", "delay:holder@work"}},
		{"delay:client,50ms,slow=5ms", []string{"takes no slow="}},
		{"delay:client+5s,50ms", []string{"takes no shift"}},
		{"delay:client,300ms±100ms±50ms", []string{"behind ±", `"100ms±50ms"`}},
		{"delay:client,±50ms", []string{"300ms±100ms"}},
		{"delay:client,59s±2s", []string{"1m1s", "1m0s"}},
		{"delay:client,50ms,1ttl,2ttl", []string{`"2ttl"`, "a duration already: 1ttl"}},
		{"delay:client,50ms,in,in", []string{`"in"`, "twice"}},
		{"pause:holder,1ttl,2ttl", []string{"a duration already: 1ttl"}},
		{"loss:holder,30%,60%", []string{"a share already: 30%"}},
		{"clock:one,drift=5%,drift=6%", []string{"a drift already: 5%"}},
		{"disk:one,slow=5ms,slow=6ms", []string{"a slowness already: 5ms"}},
		{"loss:client,50ms±10ms", []string{"50ms±10ms"}},
		{"clock:one,drift=fast", []string{`"fast"`, "5%"}},
		{"clock:one,drift=-100%", []string{"-99%"}},
		{"clock:one,drift=NaN%", []string{"-99%"}},
		{"clock:one,wall,monotonic", []string{"wall and monotonic exclude each other"}},
		{"partition:holder,in,out", []string{"in and out exclude each other", "both ways"}},
		{"loss:holder,out,10%,in", []string{"in and out exclude each other"}},
		{"loss:holder,130%", []string{"at most 100%"}},
		{"rate:leader,0", []string{`"0" is no rate`, "1mbit", "8kbit to 20mbit"}},
		{"rate:leader,1000", []string{`"1000" is no rate`}},
		{"rate:leader,-1mbit", []string{"from 8kbit to 20mbit"}},
		{"rate:leader,NaNmbit", []string{"from 8kbit to 20mbit"}},
		{"rate:leader,1gbit", []string{`"1gbit" is no rate`}},
		{"rate:leader,100mbit", []string{"from 8kbit to 20mbit"}},
		{"rate:leader-servers,1mbit", []string{"rate takes no other side"}},
		{"rate:leader,10%", []string{"rate takes no share (10%)"}},
		{"rate:resource,1mbit", []string{"takes no target resource"}},
		{"loss:holder,1mbit", []string{"loss takes no rate (1mbit)"}},
		{"pause:holder,10%", []string{"pause takes no share (10%)"}},
		{"slow:holder,150%", []string{"at most 100%"}},
		{"slow:holder,100%", []string{"from 2% to 90%"}},
		{"slow:holder,0.5%", []string{"from 2% to 90%", "pause"}},
		{"slow:holder,0%", []string{"above 0%"}},
		{"rate:leader,1mb", []string{`"1mb" is no rate`, "1mbit"}},
		{"rate:leader,1mbit,2mbit", []string{`"2mbit"`, "a rate already: 1mbit"}},
		{"slow:holder,10%,20%", []string{`"20%"`, "a share already: 10%"}},
		{"restart:all,rolling,rolling", []string{"twice"}},
		{"restart:one,rolling", []string{"one is one server", "node(1,2)"}},
		{"restart:node(2),rolling", []string{"node(2) is one server"}},
		{"slow:holder;slow:client", []string{"steps 1 and 2", "slow of a client", "slow:client(1), slow:client(2)"}},
		{"rate:leader;pause:one;rate:all", []string{"steps 1 and 3", "rate of a server", "rate:node(1)"}},
		{"slow:node(1,2);slow:node(2,3)", []string{"steps 1 and 2"}},
		{"restart:holder", []string{"restart takes no target holder"}},
		{"restart:all,empty", []string{"restart takes no option empty"}},
		{"kill:all,rolling", []string{"kill takes no option rolling"}},
		{"restart:all,rolling;pause:holder", []string{"step 1", "in turn", "put it last"}},
		{"loss:holder;rate:holder", []string{"step 2", "transfer", "loss"}},
		{"disk:holder", []string{"takes no target holder", "leader"}},
		{"disk:leader,slow=0", []string{"from 1ms to 1s"}},
		{"disk:leader,slow=2s", []string{"from 1ms to 1s", "stall"}},
		{"disk:leader,slow=fast", []string{"slow=50ms"}},
		{"disk:leader,slow=5ms,error", []string{"name one"}},
		{"disk:leader,stall,error", []string{"stall and error exclude each other", "disk:one,stall,disk:one,error"}},
		{"disk:one,stall;disk:one,error", []string{"steps 1 and 2", "whose reads, writes and syncs stand still", "fail (EIO)", "put the second one first", "disk:node(1)"}},
		{"disk:all,stall,syncs;pause:one;disk:leader,slow=5ms", []string{"steps 1 and 3", "syncs stand still", "take 5ms longer"}},
		{"disk:node(1,2),error,writes;disk:node(2),slow=5ms,writes,reads", []string{"steps 1 and 2"}},
		{"power:holder", []string{"takes no target holder", "leader"}},
		{"power:apiserver", []string{"takes no target apiserver"}},
		{"power:one,at-once,1ttl", []string{"at-once and a duration exclude each other"}},
		{"power:one,empty", []string{"power takes no option empty", "torn"}},
		{"kill:one,torn", []string{"kill takes no option torn"}},
		{"disk:one,journaled", []string{"disk takes no option journaled"}},
		{"power:one;pause:one,1ttl;power:one,at-once,1s", []string{"exclude each other"}},
		{"pause:holder,slow=5ms", []string{"pause takes no slow="}},
		{"pause:holder,3..2ttl", []string{"3..2ttl"}},
		{"pause:holder,NaNs", []string{`"NaNs"`}},
		{"pause:holder;pause:client,kill:one", []string{"step 2", "mixes"}},
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
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: time.Second, Servers: 3, Clients: 5}
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
		if _, err := New(c.spec, Conditions{Seed: 1, TTL: time.Second, Limit: time.Second}); err != nil {
			t.Errorf("%s, of an unknown number: %v", c.spec, err)
		}
	}
}

// A fault of a disk on which servers keep nothing is refused, with what would help; other faults are not.
func TestServersThatKeepNothingOnDisk(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: time.Second, Diskless: "use --set=appendonly=yes"}
	for _, spec := range []string{"disk", "disk:one,stall", "pause,disk", "pause:one;disk:leader", "power", "power:all@work"} {
		if _, err := New(spec, plan); err == nil || !strings.Contains(err.Error(), plan.Diskless) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := New("pause,kill", plan); err != nil {
		t.Error(err)
	}
	fronted := Conditions{Seed: 1, TTL: time.Second, Limit: time.Second, Servers: 3, Fronts: 2}
	for _, spec := range []string{"disk:node(1,4)", "power:node(4)"} {
		if _, err := New(spec, fronted); err == nil || !strings.Contains(err.Error(), "node(4) keeps nothing on disk: aim at 1 to 3") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := New("power:node(3)", fronted); err != nil {
		t.Error(err)
	}
}

// What the load leaves no time for is refused: a delay that no packet could be seen to have, and a last turn that never comes.
func TestFaultsThatTheLoadLeavesNoTimeFor(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: 2 * time.Second, Limit: 10 * time.Second, Servers: 3, Clients: 5}
	for _, c := range []struct{ spec, says string }{
		{"delay:holder,10s", "held for at least 10s, and the load is over after 10s"},
		{"delay:holder,12s±1s", "held for at least 11s"},
		{"delay:leader,6..8ttl", "held for at least 12s"},
		{"pause:one;delay:client(1),20s", "longer --time-limit"},
		{"delay:holder,9.9s,1h", ""},
		{"delay:holder,10s±1s", ""},
		{"delay:holder,4..8ttl", ""},
		{"restart:all,rolling,5s", "with 3 servers in turn, each away for at least 5s"},
		{"restart:node(1,2),rolling,6..7ttl", "with 2 servers in turn, each away for at least 12s"},
		{"restart:all,rolling,4s", ""},
		{"restart:all,1h", ""},
		{"power:all,1h", ""},
		{"disk:leader,stall,1h", ""},
	} {
		_, err := New(c.spec, plan)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.spec, err, c.says)
		}
	}
	short := plan
	short.Limit = time.Second
	for _, spec := range []string{"delay", "restart"} { // who names no magnitude cannot have named one that cannot be
		if _, err := New(spec, short); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// A fault of syncs alone is refused where servers make none; one of writes, too, is met.
func TestServersThatSyncNothing(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: time.Second, Syncless: "use --set=fsync=on"}
	for _, spec := range []string{"disk:one,stall,syncs", "pause,disk:leader,error,syncs", "pause:one;disk:leader,syncs"} {
		if _, err := New(spec, plan); err == nil || !strings.Contains(err.Error(), plan.Syncless+", or name writes, too") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, spec := range []string{"disk:one,stall", "disk:one,stall,syncs,writes", "pause,kill"} {
		if _, err := New(spec, plan); err != nil {
			t.Errorf("%s: %v", spec, err)
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
		drawSchedule(spec, Conditions{Seed: 1, TTL: time.Second, Limit: 2 * time.Second})
		again, err := Parse(strings.NewReplacer(" | ", ",", " ; ", ";").Replace(meaning(spec)))
		if err != nil || meaning(again) != meaning(spec) {
			t.Errorf("%q means %s, which means %s, %v", text, meaning(spec), meaning(again), err)
		}
	})
}

// What each kind of fault is for comes first and at least every second time, with magnitudes around the interesting
// point.
func TestSchedulesAreStratified(t *testing.T) {
	specs := []string{"pause,partition"}
	for _, k := range Kinds {
		if k.begin != nil {
			specs = append(specs, k.Name)
		}
	}
	for _, spec := range specs {
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
					lasts := step.For
					if rest := kindNamed(step.Kind).defaults.rest; rest.given() {
						lasts = rest
					}
					if low, high := lasts.bounds(ttl); step.Hold < low || step.Hold > high {
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
	return drawSchedule(mustParse(t, spec), Conditions{Seed: seed, TTL: ttl, Limit: time.Minute})
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
