package nemesis

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// writtenSpecs have every part of the grammar, beside the default mixes.
var writtenSpecs = []string{
	"none", "pause:holder@acquire,0..1ttl", "pause:client(1,3),500ms", "clock:one-1.2..3ttl", "clock:node(1)@leader,drift=-0.5%,monotonic", "clock:holder+90s,wall",
	"partition:holder-resource,in,1..2s", "partition:client(1)-node(2,3)@worked", "loss:holder,33.333333%", "rate:leader,16kbit", "slow:holder@lost,7%",
	"delay:holder-servers,2ms..300ms±1ms,0.5ttl", "delay:client,0.1..0.3ttl+-0.05ttl,out", "disk:one,slow=50ms,syncs,writes", "disk:all,error", "power:leader,torn,1ttl",
	"power:all,journaled,at-once", "kill:resource@worked,at-once", "kill:leader,empty", "restart:all,rolling", "failover@work,kill:one,pause",
	"delay:client-resource,1ttl,4..6ttl;kill:all@work,at-once", "kill:one,0.5ttl;power:one,1ttl;pause:holder",
	"partition:leader;power:one,torn;clock:node(3)+2ttl;pause:holder@queue,1..2ttl",
}

var writtenPlan = Conditions{TTL: 1700 * time.Millisecond, Limit: time.Minute, Servers: 5, Clients: 5, ResourceUnderTest: true}

// What a seed draws comes back from JSON without loss, with the same words and needs.
func TestAScheduleReadsBackAsItWasDrawn(t *testing.T) {
	for _, spec := range slices.Concat(Names(), writtenSpecs) {
		for seed := range int64(20) {
			plan := writtenPlan
			plan.Seed = seed
			drawn, err := New(spec, plan)
			if err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			text, err := json.Marshal(drawn.Schedule())
			if err != nil {
				t.Fatal(err)
			}
			var rounds []history.Round
			if err := json.Unmarshal(text, &rounds); err != nil {
				t.Fatal(err)
			}
			read, err := FromSchedule(rounds, plan)
			if err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", spec, seed, err, text)
			}
			a, b := drawn.(*schedule).rounds, read.(*schedule).rounds
			if len(a) != len(b) {
				t.Fatalf("%s, seed %d: %d rounds were read as %d", spec, seed, len(a), len(b))
			}
			for i := range a {
				for j := range a[i].Steps {
					a[i].Steps[j] = a[i].Steps[j].pinned()
				}
				if !reflect.DeepEqual(a[i], b[i]) {
					t.Fatalf("%s, seed %d, round %d:\n%+v\nwas read as\n%+v", spec, seed, i+1, a[i], b[i])
				}
			}
			if !slices.Equal(drawn.Steps(), read.Steps()) || !reflect.DeepEqual(drawn.Schedule(), read.Schedule()) {
				t.Fatalf("%s, seed %d: other words", spec, seed)
			}
			if a, b := drawn.Capabilities(), read.Capabilities(); slices.ContainsFunc(b, func(c history.Capability) bool { return !slices.Contains(a, c) }) {
				t.Fatalf("%s, seed %d: needs %v, and as read %v", spec, seed, a, b)
			}
		}
	}
}

// A mistake is told at its field, in the words of the grammar.
func TestMistakesInASchedule(t *testing.T) {
	good := history.Step{Fault: "pause", Target: "holder", Trigger: "work", For: "1.5ttl"}
	for name, c := range map[string]struct {
		step history.Step
		plan func(*Conditions)
		at   string
		says string
	}{
		"no such fault":              {history.Step{Fault: "pasue", For: "1s"}, nil, "fault", "did you mean pause?"},
		"nothing":                    {history.Step{Fault: "none"}, nil, "fault", "does nothing"},
		"no such target":             {history.Step{Fault: "pause", Target: "holdr", For: "1s"}, nil, "target", "did you mean holder?"},
		"a target and more":          {history.Step{Fault: "pause", Target: "client(1)@work", For: "1s"}, nil, "target", "is not understood behind client(1)"},
		"a target it does not take":  {history.Step{Fault: "restart", Target: "holder", For: "1s"}, nil, "", "restart takes no target holder; it takes: all, leader"},
		"a server that is not there": {history.Step{Fault: "pause", Target: "node(7)", For: "1s"}, nil, "", "there is no node(7): the run has 5 servers"},
		"no such trigger":            {history.Step{Fault: "pause", Trigger: "wrok", For: "1s"}, nil, "trigger", "did you mean @work?"},
		"a part it does not take":    {history.Step{Fault: "pause", Peer: "servers", For: "1s"}, nil, "", "pause takes no other side"},
		"a delay it does not take":   {history.Step{Fault: "pause", Delay: "1s", For: "1s"}, nil, "delay", "pause takes no delay"},
		"no length":                  {history.Step{Fault: "pause"}, nil, "for", "missing"},
		"a range":                    {history.Step{Fault: "pause", For: "1..2ttl"}, nil, "for", "nothing is drawn for a plan file"},
		"a length that cannot be":    {history.Step{Fault: "pause", For: "2000ttl"}, nil, "for", "is not above 0 and at most 1000 TTLs or a year"},
		"no number":                  {history.Step{Fault: "pause", For: "long"}, nil, "for", "neither TTLs (1.5ttl) nor a time"},
		"a shift without a sign":     {history.Step{Fault: "clock", Shift: "90s", For: "1s"}, nil, "shift", "write +90s"},
		"neither shift nor drift":    {history.Step{Fault: "clock", For: "1s"}, nil, "shift", "missing"},
		"a drift that cannot be":     {history.Step{Fault: "clock", Drift: "-100%", For: "1s"}, nil, "drift", "a drift is from -99%"},
		"a share that cannot be":     {history.Step{Fault: "loss", Share: "120%", For: "1s"}, nil, "share", "at most 100%"},
		"a share in place of a rate": {history.Step{Fault: "rate", Rate: "5%", For: "1s"}, nil, "rate", "is no rate: write 1mbit"},
		"a delay that cannot be":     {history.Step{Fault: "delay", Delay: "10ms±20ms", For: "1s"}, nil, "delay", "before they were sent"},
		"a latency that cannot be":   {history.Step{Fault: "disk", Slow: "1h", For: "1s"}, nil, "slow", "write slow=50ms"},
		"no such word":               {history.Step{Fault: "power", Words: []string{"trn"}}, nil, "words", "did you mean torn?"},
		"a word twice":               {history.Step{Fault: "power", Words: []string{"torn", "torn"}}, nil, "words", "it is given twice"},
		"a word of another":          {history.Step{Fault: "pause", Words: []string{"torn"}, For: "1s"}, nil, "", "pause takes no option torn"},
		"at once, and for a time":    {history.Step{Fault: "power", Words: []string{"at-once"}, For: "1s"}, nil, "", "exclude each other"},
		"a rest of what lasts":       {history.Step{Fault: "pause", For: "1s", Rest: "1s"}, nil, "rest", "takes no rest"},
		"a part of no work":          {history.Step{Fault: "pause", Target: "client", For: "1s", IntoWork: 0.5}, nil, "into_work", "only of trigger work"},
		"more than all of its work":  {history.Step{Fault: "pause", For: "1s", IntoWork: 1.5}, nil, "into_work", "from 0 to less than 1"},
		"a leader where none leads":  {history.Step{Fault: "pause", Target: "leader", For: "1s"}, func(p *Conditions) { p.Leaderless = true }, "", "no server of this service leads"},
		"another's server":           {history.Step{Fault: "pause", Target: "one", For: "1s"}, func(p *Conditions) { p.Attached = true }, "", "with --attach others run the servers"},
		"no disk":                    {history.Step{Fault: "disk", Words: []string{"stall"}, For: "1s"}, func(p *Conditions) { p.Diskless = "nothing is on disk" }, "", "nothing is on disk"},
		"lockcheck's own resource":   {history.Step{Fault: "kill", Target: "resource", For: "1s"}, func(p *Conditions) { p.ResourceUnderTest = false }, "", "only a resource that lockcheck started"},
	} {
		plan := writtenPlan
		if c.plan != nil {
			c.plan(&plan)
		}
		_, err := FromSchedule([]history.Round{{After: "1s", Steps: []history.Step{good}}, {After: "1s", Steps: []history.Step{c.step}}}, plan)
		var at *Misplaced
		if !errors.As(err, &at) || at.Round != 1 || at.Step != 0 || at.Field != c.at || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want it at %q, with %q", name, err, c.at, c.says)
		}
	}
}

// What is wrong with a round as a whole is told of the round.
func TestMistakesInARound(t *testing.T) {
	pause := history.Step{Fault: "pause", Target: "client(1)", For: "1s"}
	slow := history.Step{Fault: "slow", Target: "client"}
	slowLast := history.Step{Fault: "slow", Target: "client", For: "1s"}
	for name, c := range map[string]struct {
		round history.Round
		at    string
		says  string
	}{
		"no time":       {history.Round{Steps: []history.Step{pause}}, "after", "write 800ms"},
		"a time before": {history.Round{After: "-1s", Steps: []history.Step{pause}}, "after", "not above 0"},
		"no steps":      {history.Round{After: "1s"}, "steps", "at least one step"},
		"a disk that stands still, and fails": {history.Round{After: "1s", Steps: []history.Step{
			{Fault: "disk", Target: "node(1)", Words: []string{"stall"}}, {Fault: "disk", Target: "node(1)", Words: []string{"error"}, For: "1s"},
		}}, "steps", "it is not seen that its reads, writes and syncs fail"},
		"the same target twice": {history.Round{After: "1s", Steps: []history.Step{slow, slowLast}}, "steps", "are both slow of a client"},
	} {
		_, err := FromSchedule([]history.Round{c.round}, writtenPlan)
		var at *Misplaced
		if !errors.As(err, &at) || at.Step != -1 || at.Field != c.at || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want it at %q, with %q", name, err, c.at, c.says)
		}
	}
}

// A schedule that no seed drew needs what its own faults are for.
func TestWhatAScheduleNeeds(t *testing.T) {
	step := func(fault, target string) history.Step { return history.Step{Fault: fault, Target: target, For: "1s"} }
	part := step("partition", "one")
	part.For = ""
	n, err := FromSchedule([]history.Round{
		{After: "1s", Steps: []history.Step{step("pause", "client(2)")}},
		{After: "0.5ttl", Steps: []history.Step{part, step("pause", "node(1,2)")}},
	}, writtenPlan)
	if err != nil {
		t.Fatal(err)
	}
	var needs []string
	for _, r := range (&history.Plan{Nodes: 5, EffectiveMS: 1000, Schedule: n.Schedule()}).Requirements()[2:] {
		needs = append(needs, r.Name)
	}
	if got := strings.Join(needs, " "); got != "pauses partitions-of-servers pauses-of-servers pauses-at-once" {
		t.Errorf("it needs %s", got)
	}
	if got := strings.Join(n.Steps(), "\n"); !strings.Contains(got, "after 850ms: partition:one") || !strings.Contains(got, "then: pause:node(1,2) for 1s") {
		t.Errorf("its steps are\n%s", got)
	}
}
