package nemesis

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// requiredOfSpecs are specs of every kind with what a run must have met. The test of a new fault adds its own.
var requiredOfSpecs = []struct{ spec, needs string }{
	{"none", ""},
	{"pause:holder", "pauses-past-the-lease"},
	{"pause:holder,0.2ttl", "pauses-of-holders"},
	{"pause:holder@removing,1.5ttl", "pauses"}, // its release has begun: it believes in its lock no more
	{"kill:holder@removing", "kills"},
	{"pause:leader@removing", "pauses-of-servers"},
	{"kill:holder@expiring", "kills"}, // it was not told yet that the lock is its own
	{"kill:client@expiring", "kills"},
	{"pause:client", "pauses"},
	{"pause:leader", "pauses-of-servers"},
	{"partition:holder@work", "partitions-past-the-lease"},
	{"partition:holder-servers", "partitions-past-the-lease"},
	{"partition:holder-leader", "partitions-of-holders"}, // it goes on to renew elsewhere
	{"partition:holder-resource", "partitions-of-holders"},
	{"partition:holder@work,0.7ttl", "partitions-of-holders"},
	{"partition:waiter", "partitions"},
	{"partition:minority", "partitions-of-servers 2 partitions-at-once"},
	{"partition:client(1,2)-node(4,5)", "partitions 2 partitions-at-once"},
	{"kill:majority,empty", "kills-of-servers 3 kills-at-once"},
	{"kill:holder", "kills-of-holders"},
	{"kill:waiter", "kills"},
	{"clock:majority+2ttl", "clock-skews-of-servers 3 clock-skews-at-once"},
	{"clock:all+2ttl", "clock-skews-of-servers 5 clock-skews-at-once"},
	{"clock:holder+2ttl", "clock-skews-of-holders"},
	{"loss:holder", "losses-of-holders"},
	{"delay:holder,300ms", "delays-of-holders"},
	{"delay:leader,300ms", "delays-of-servers"},
	{"delay:client,300ms", "delays"},
	{"loss:leader", "losses-of-servers"},
	{"rate:leader,1mbit", "rate-limits-of-servers"},
	{"slow:holder,10%", "slowdowns-of-holders"},
	{"slow:client", "slowdowns"},
	{"restart:one", "restarts-of-servers"},
	{"restart:majority", "restarts-of-servers 3 restarts-at-once"},
	{"restart:all,rolling", "5 restarts-of-servers"}, // never two at once
	{"disk:leader,stall,2ttl", "disk-faults-of-servers"},
	{"disk:majority,error,syncs", "disk-faults-of-servers 3 disk-faults-at-once"},
	{"power:all@work", "power-cuts-of-servers 5 power-cuts-at-once"},
	{"power:leader,torn", "power-cuts-of-servers"},
	{"kill:resource@worked", "kills-of-the-resource"},
	{"pause:resource", "pauses-of-the-resource"},
	{"failover@work", "failovers"},
	{"clock:one+2ttl,clock:majority+2ttl,kill:leader", "clock-skews-of-servers kills-of-servers"}, // by the first of each kind
	{"pause:client(1),1ttl;pause:client(2)", "pauses"},                                            // the first may be over before the second comes
	{"kill:all@work,0.5ttl;delay:client-resource,0.5ttl,6ttl", "kills-of-servers delays 5 kills-at-once"},
	{"pause:client(1);pause:client(2)", "pauses 2 pauses-at-once"},
	{"partition:client(1)-node(4,5);partition:client(2)-node(1,2);clock:node(3)+2ttl", "partitions clock-skews-of-servers 2 partitions-at-once"},
}

// What has to have happened for a run to have tested what was asked for (rule J9), with five servers.
func TestWhatARunMustHaveMet(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range requiredOfSpecs {
		n, err := New(c.spec, Conditions{Seed: 1, TTL: time.Second, Limit: time.Minute, Servers: 5, Clients: 5, ResourceUnderTest: true})
		if err != nil {
			t.Fatal(err)
		}
		var needs []string
		required := (&history.Plan{Nemesis: c.spec, Nodes: 5, EffectiveMS: 1000, Schedule: n.Schedule()}).Requirements()
		if always := []history.Requirement{{Name: history.ExposureContended, Min: 1}, {Name: history.ExposureWriters, Min: 2}}; !slices.Equal(required[:2], always) {
			t.Errorf("%s needs %v first, want %v", c.spec, required[:2], always)
		}
		for _, r := range required[2:] {
			if r.Min > 1 {
				needs = append(needs, fmt.Sprint(r.Min))
			}
			needs = append(needs, r.Name)
		}
		if got := strings.Join(needs, " "); got != c.needs {
			t.Errorf("%s needs %q, want %q", c.spec, got, c.needs)
		}
		for _, mix := range n.(*schedule).specs[0] {
			for _, f := range mix {
				seen[f.Kind] = true
			}
		}
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("no case says what a run must have met of %s", name)
		}
	}
}

// The resource is a target only where it is under test: lockcheck's own keeps the run's record.
func TestOnlyAResourceUnderTestIsATarget(t *testing.T) {
	for _, spec := range []string{"kill:resource", "pause:resource@work", "pause:holder;kill:resource@worked,at-once"} {
		for tested, want := range map[bool]string{true: "", false: "only a resource that lockcheck started to test it is a target of faults"} {
			_, err := New(spec, Conditions{Seed: 1, TTL: time.Second, Limit: time.Second, Servers: 3, Clients: 3, ResourceUnderTest: tested})
			if (err == nil) != tested || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, under test %v: %v", spec, tested, err)
			}
		}
	}
	if _, err := New("partition:holder-resource", Conditions{Seed: 1, TTL: time.Second, Limit: time.Second}); err != nil {
		t.Error(err)
	}
}

// Where no server leads, a bare name does without the faults that need a leader, and who asks for one is told.
func TestAServiceWithoutALeader(t *testing.T) {
	plan := Conditions{Seed: 1, TTL: time.Second, Limit: time.Minute, Servers: 5, Clients: 5, Leaderless: true}
	for _, k := range Kinds {
		n, err := New(k.Name, plan)
		if k.Capability == history.CapabilityFailover {
			if err == nil || !strings.Contains(err.Error(), "no leader with 5 servers") {
				t.Errorf("%s: %v, want it refused", k.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		if steps := strings.Join(n.Steps(), "\n"); strings.Contains(steps, "leader") || k.Name != "none" && steps == "" {
			t.Errorf("%s: steps\n%s", k.Name, steps)
		}
	}
	for _, spec := range []string{"kill:leader", "kill,pause:follower", "partition:holder-leader", "pause:one;kill:leader"} {
		if _, err := New(spec, plan); err == nil || !strings.Contains(err.Error(), "no server of this service leads") {
			t.Errorf("%s: %v, want it refused", spec, err)
		}
	}
}

// Of one server, or of two, no minority can be meant, nor what is on the other side of all servers there are: who asks for that is told, and
// a bare name does without.
func TestAServiceOfFewServers(t *testing.T) {
	plan := func(servers, fronts int) Conditions {
		return Conditions{Seed: 1, TTL: time.Second, Limit: time.Minute, Servers: servers, Fronts: fronts, Clients: 5}
	}
	for _, k := range Kinds {
		if k.Capability == history.CapabilityFailover {
			continue
		}
		for servers := 1; servers <= 3; servers++ {
			n, err := New(k.Name, plan(servers, 0))
			if err != nil {
				t.Errorf("%s of %d: %v", k.Name, servers, err)
				continue
			}
			steps := strings.Join(n.Steps(), "\n")
			if k.Name != none.Name && steps == "" {
				t.Errorf("%s of %d: no steps", k.Name, servers)
			}
			if servers < 3 && (strings.Contains(steps, "minority") || strings.Contains(steps, "bridge")) {
				t.Errorf("%s of %d: steps\n%s", k.Name, servers, steps)
			}
		}
	}
	for _, c := range []struct {
		spec            string
		servers, fronts int
		says            string // "" if it can be
	}{
		{"disk:minority,stall", 1, 0, "with 1 server there is no minority: aim at one, leader or all"},
		{"power:minority", 2, 0, "with 2 servers there is no minority"},
		{"restart:minority", 2, 0, "no minority"},
		{"pause:holder;power:minority", 2, 0, "no minority"},
		{"kill:follower", 1, 0, "with 1 server there is no follower"},
		{"partition:holder-follower", 1, 0, "no follower"},
		{"partition:bridge", 2, 0, "no bridge"},
		{"delay:leader,300ms", 1, 0, "none on the other side: name another one (-clients, -resource), or take more --nodes"},
		{"loss:majority-servers", 2, 0, "none on the other side"},
		{"partition:node(1,2,3)", 3, 0, "none on the other side"},
		{"delay:leader-clients,300ms", 1, 0, ""},
		{"partition:majority", 1, 1, ""},
		{"partition:node(1,2)", 3, 0, ""},
		{"power:minority", 3, 0, ""},
		{"kill:follower", 2, 0, ""},
		{"power:majority", 1, 0, ""},
		{"rate:leader,1mbit", 1, 0, ""},
	} {
		_, err := New(c.spec, plan(c.servers, c.fronts))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %d servers: %v, want %q", c.spec, c.servers, err, c.says)
		}
	}
}
