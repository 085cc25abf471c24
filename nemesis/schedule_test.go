package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/provider/disk"
)

// scene is a run with some clients and servers. It writes down what is done to them.
type scene struct {
	moment         Moment // what a listener hears of
	over           int    // so many moments are over by the time that they are looked at
	isOver         string // the hold whose moments are
	clients, nodes []Target
	fronts         int // of the nodes, the last
	leader         string

	completed func() // called at each event that completes a fault or its healing, if there is one

	mu     sync.Mutex
	ready  error
	op     int64
	events []string
	atOnce []string // those that say that the target was started again at once
}

func (s *scene) Listen(kind Trigger, wants func(Moment) bool) Listener {
	m := s.moment
	m.Kind = kind
	return listener{m, wants(m)}
}

// listener hears of one moment again and again, or of none.
type listener struct {
	moment Moment
	comes  bool
}

func (l listener) Next(ctx context.Context) (Moment, error) {
	if !l.comes {
		<-ctx.Done()
	}
	l.moment.At = time.Now()
	return l.moment, ctx.Err()
}
func (l listener) End() {}

func (s *scene) Still(m Moment) bool {
	s.over--
	return s.over < 0 && (s.isOver == "" || m.Hold != s.isOver)
}
func (s *scene) Client(name string) Target {
	for _, c := range s.clients {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
func (s *scene) ClientNumber(n int) Target      { return s.Client(fmt.Sprintf("c%d", n)) }
func (s *scene) Clients() []Target              { return slices.Clone(s.clients) }
func (s *scene) Waiters() []Target              { return s.clients[1:] }
func (s *scene) Nodes() []Target                { return slices.Clone(s.nodes) }
func (s *scene) Fronts() []Target               { return s.Nodes()[len(s.nodes)-s.fronts:] }
func (s *scene) Resource() Target               { return &victim{name: "resource"} }
func (s *scene) Leader(context.Context) string  { return s.leader }
func (s *scene) Failover(context.Context) error { return errors.New("no leader") }
func (s *scene) Ready(context.Context) error    { return s.ready }
func (s *scene) Hold(name string) (hold, key string, _ bool) {
	if name == "c1" {
		return "h9", "k1", true
	}
	return "", "", false
}

func (s *scene) NextOp() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.op++
	return s.op
}

func (s *scene) Record(e history.Event) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	does := "inject"
	if e.Heal {
		does = "heal"
	}
	if e.AtOnce {
		s.atOnce = append(s.atOnce, does+" "+string(e.Type))
	}
	s.events = append(s.events, fmt.Sprintf("%s %s %s %s %s", does, e.Type, e.F, e.Target, e.Hold))
	if s.completed != nil && e.Type == history.OK {
		s.completed()
	}
	return int64(len(s.events))
}

// Every event of a fault says which clock it changes; faults of other kinds change none.
func TestAFaultSaysWhichClockItChanges(t *testing.T) {
	for spec, want := range map[string]history.Clock{
		"clock:one+2ttl": history.ClockWall, "clock:one+2ttl,wall": history.ClockWall, "clock:client+2ttl,monotonic": history.ClockMonotonic,
		"clock:one,drift=5%": history.ClockWall, "pause:one": "", "kill:one": "",
	} {
		parsed, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		a := drawnStep{Fault: parsed[0][0]}.act(&scene{}, &victim{name: "n1"}, Moment{})
		if a.event.Clock != want {
			t.Errorf("%s changes clock %q, want %q", spec, a.event.Clock, want)
		}
	}
}

// victim can suffer everything, unless it refuses. It writes down what was done.
type victim struct {
	name    string
	refuses error
	mu      sync.Mutex
	did     []string
}

func (v *victim) note(format string, args ...any) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.did = append(v.did, fmt.Sprintf(format, args...))
	return v.refuses
}

func (v *victim) Name() string                 { return v.name }
func (v *victim) Pause(context.Context) error  { return v.note("pause") }
func (v *victim) Resume(context.Context) error { v.refuses = nil; return v.note("resume") }
func (v *victim) Kill(context.Context) error   { return v.note("kill") }
func (v *victim) Restart(_ context.Context, empty bool) error {
	return v.note("restart empty=%v", empty)
}
func (v *victim) SetClock(_ context.Context, s Skew) (time.Duration, error) {
	return s.Wall.Offset, v.note("clock wall %v drift %g, monotonic %v", s.Wall.Offset, s.Wall.Drift, s.Monotonic.Offset)
}
func (v *victim) ResetClock(context.Context) error { return v.note("clock reset") }
func (v *victim) Block(_ context.Context, _ string, cut Cut) error {
	var names []string
	for _, p := range cut.Peers {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return v.note("block %v in=%v out=%v %g", names, cut.In, cut.Out, cut.Share)
}
func (v *victim) Unblock(context.Context, string, []Linked) error { return v.note("unblock") }
func (v *victim) Limit(_ context.Context, bits int64, peers []Linked) (time.Time, string, error) {
	return time.Now(), "", v.note("limit %d, seen by %s and %d others", bits, peers[0].Name(), len(peers)-1)
}
func (v *victim) Unlimit(context.Context) (string, error) { return "", v.note("unlimit") }
func (v *victim) Slow(_ context.Context, share float64) (time.Time, string, error) {
	return time.Now(), "", v.note("slow %g", share)
}
func (v *victim) Unslow(context.Context) (string, error) { return "", v.note("unslow") }
func (v *victim) Quit(context.Context) (string, error)   { return "exit code 0", v.note("stop") }
func (v *victim) CutPower(_ context.Context, how disk.How) (string, error) {
	return "1 kB in 1 file", v.note("power torn=%v journaled=%v", how.Torn != 0, how.Journaled)
}
func (v *victim) PowerBack() { _ = v.note("watched") }

// rock is a target that can suffer nothing.
type rock string

func (r rock) Name() string { return string(r) }

func five(prefix string) (all []Target) {
	for i := range 5 {
		all = append(all, &victim{name: fmt.Sprintf("%s%d", prefix, i+1)})
	}
	return all
}

// one plays the first round of a spec, with its holds made short.
func play(t *testing.T, spec string, s *scene) {
	t.Helper()
	round := drawSchedule(mustParse(t, spec), Conditions{Seed: 3, TTL: 10 * time.Millisecond, Limit: time.Millisecond}).rounds[0]
	if err := round.run(t.Context(), s, time.Second); err != nil {
		t.Fatal(err)
	}
}

func did(targets []Target) (all []string) {
	for _, target := range targets {
		if v, ok := target.(*victim); ok {
			for _, what := range v.did {
				all = append(all, v.name+" "+what)
			}
		}
	}
	return all
}

// What each kind of fault does to which target.
func TestFaultsHitWhomTheyName(t *testing.T) {
	cases := []struct {
		spec string
		did  []string
	}{
		{"pause:holder", []string{"c1 pause", "c1 resume"}},
		{"pause:client(2,4)", []string{"c2 pause", "c2 resume", "c4 pause", "c4 resume"}},
		{"pause:leader", []string{"n3 pause", "n3 resume"}},
		{"kill:node(2),empty", []string{"n2 kill", "n2 restart empty=true"}},
		{"kill:node(2),empty,at-once", []string{"n2 kill", "n2 restart empty=true"}},
		{"power:node(2)", []string{"n2 power torn=false journaled=false", "n2 restart empty=false", "n2 watched"}},
		{"power:node(2),torn,journaled,1ttl", []string{"n2 power torn=true journaled=true", "n2 restart empty=false", "n2 watched"}},
		{"kill:node(1,5)", []string{"n1 kill", "n1 restart empty=false", "n5 kill", "n5 restart empty=false"}},
		{"clock:node(3)+90s", []string{"n3 clock wall 1m30s drift 0, monotonic 0s", "n3 clock reset"}},
		{"clock:node(3)-2ttl", []string{"n3 clock wall -20ms drift 0, monotonic 0s", "n3 clock reset"}},
		{"clock:node(3)+2ttl,monotonic", []string{"n3 clock wall 0s drift 0, monotonic 20ms", "n3 clock reset"}},
		{"clock:client(1),drift=5%", []string{"c1 clock wall 0s drift 0.05, monotonic 0s", "c1 clock reset"}},
		{"partition:client(1)-node(4,5)", []string{"c1 block [n4 n5] in=true out=true 1", "c1 unblock"}},
		{"partition:holder-resource", []string{"c1 block [resource] in=true out=true 1", "c1 unblock"}},
		{"partition:holder,in", []string{"c1 block [c2 c3 c4 c5 n1 n2 n3 n4 n5 resource] in=true out=false 1", "c1 unblock"}},
		{"partition:leader,out", []string{"n3 block [n1 n2 n4 n5] in=false out=true 1", "n3 unblock"}},
		{"partition:node(1,2)-servers", []string{"n1 block [n3 n4 n5] in=true out=true 1", "n1 unblock", "n2 block [n3 n4 n5] in=true out=true 1", "n2 unblock"}},
		{"partition:leader-everything", []string{"n3 block [c1 c2 c3 c4 c5 n1 n2 n4 n5 resource] in=true out=true 1", "n3 unblock"}},
		{"rate:leader,1mbit", []string{"n3 limit 1000000, seen by resource and 9 others", "n3 unlimit"}},
		{"slow:holder,10%", []string{"c1 slow 0.1", "c1 unslow"}},
		{"slow:node(1,2),5%", []string{"n1 slow 0.05", "n1 unslow", "n2 slow 0.05", "n2 unslow"}},
		{"restart:node(1,5)", []string{"n1 stop", "n1 restart empty=false", "n5 stop", "n5 restart empty=false"}},
		{"slow:holder,10%;pause:holder", []string{"c1 slow 0.1", "c1 pause", "c1 resume", "c1 unslow"}},
		{"loss:client(3)-servers,25%", []string{"c3 block [n1 n2 n3 n4 n5] in=true out=true 0.25", "c3 unblock"}},
		{"partition:client(1)-node(4);clock:node(3)+1s", []string{"c1 block [n4] in=true out=true 1", "c1 unblock", "n3 clock wall 1s drift 0, monotonic 0s", "n3 clock reset"}},
	}
	for _, c := range cases {
		s := &scene{clients: five("c"), nodes: five("n"), leader: "n3", moment: Moment{Client: "c1", Hold: "h1", Key: "k1", Number: 1}}
		play(t, c.spec, s)
		if got := append(did(s.clients), did(s.nodes)...); !slices.Equal(got, c.did) {
			t.Errorf("%s did %q, want %q", c.spec, got, c.did)
		}
	}
}

// Sides of a partition never overlap, and a bridge's server is on neither.
func TestSidesOfAPartition(t *testing.T) {
	for spec, sizes := range map[string][2]int{
		"partition:minority": {2, 3}, "partition:majority": {3, 2}, "partition:bridge": {2, 2},
		"partition:minority-majority": {2, 3}, "partition:majority-minority": {3, 2}, "partition:one-one": {1, 1},
		"partition:follower-follower": {1, 1}, "partition:node-minority": {1, 2}, "partition:client-client": {1, 1}, "partition:waiter-waiter": {1, 1},
	} {
		for seed := range int64(50) {
			s := &scene{clients: five("c"), nodes: five("n"), leader: "n3"}
			step := drawSchedule(mustParse(t, spec), Conditions{Seed: seed, TTL: time.Second, Limit: time.Millisecond}).rounds[0].Steps[0]
			acts := step.aim(t.Context(), s, Moment{})
			if len(acts) != sizes[0] {
				t.Fatalf("%s, seed %d: %d on the one side", spec, seed, len(acts))
			}
			for _, a := range acts {
				peers := a.peers(t.Context())
				if len(peers) != sizes[1] {
					t.Fatalf("%s, seed %d: %d on the other side of %s", spec, seed, len(peers), a.target.Name())
				}
				for _, b := range acts {
					if slices.ContainsFunc(peers, func(p Target) bool { return p.Name() == b.target.Name() }) {
						t.Fatalf("%s, seed %d: %s is cut off from its own side", spec, seed, a.target.Name())
					}
				}
			}
		}
	}
}

func TestAFaultIsRecordedAsWhatCameOfIt(t *testing.T) {
	took := []string{"inject invoke pause c1 h1", "inject ok pause c1 h1", "heal invoke pause c1 h1", "heal ok pause c1 h1"}
	cases := []struct {
		name    string
		spec    string
		scene   *scene
		events  []string
		resumed bool
	}{
		{"seen to work, then taken back", "pause:holder", &scene{clients: five("c")}, took, true},
		{"work that was over is let go", "pause:holder", &scene{clients: five("c"), over: 3}, took, true},
		{"not seen to work: no effect is claimed, and it is taken back all the same", "pause:holder",
			&scene{clients: []Target{&victim{name: "c1", refuses: errors.New("a thread still runs")}}},
			[]string{"inject invoke pause c1 h1", "inject fail pause c1 h1", "heal invoke pause c1 h1", "heal ok pause c1 h1"}, true},
		{"nothing to stop", "pause:client(1)", &scene{clients: []Target{rock("c1")}},
			[]string{"inject invoke pause c1 h9", "inject fail pause c1 h9"}, false},
		{"no server at all", "pause:one", &scene{}, []string{"inject invoke pause none ", "inject fail pause none "}, false},
		{"no leader", "kill:leader", &scene{nodes: five("n")}, []string{"inject invoke kill none ", "inject fail kill none "}, false},
		{"a sequence ends with the step that had no verified effect, and the others are healed", "pause:client(1);failover;pause:client(2)", &scene{clients: five("c")},
			[]string{"inject invoke pause c1 h9", "inject ok pause c1 h9", "inject invoke failover service ", "inject fail failover service ", "heal invoke pause c1 h9", "heal ok pause c1 h9"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.scene.moment = Moment{Client: "c1", Hold: "h1", Key: "k1", Work: time.Millisecond}
			play(t, c.spec, c.scene)
			if !slices.Equal(c.scene.events, c.events) {
				t.Errorf("recorded\n%q, want\n%q", c.scene.events, c.events)
			}
			if got := slices.Contains(did(c.scene.clients), "c1 resume"); got != c.resumed {
				t.Errorf("resumed: %v, want %v", got, c.resumed)
			}
		})
	}
}

func TestWhatIsDoneWhenTheRunEndsIsHealed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scene{clients: five("c"), moment: Moment{Client: "c1", Hold: "h1", Work: time.Millisecond}, completed: cancel}
	nemesis := drawSchedule(mustParse(t, "pause:holder,1h"), Conditions{Seed: 1, TTL: time.Hour, Limit: time.Millisecond})
	nemesis.rounds[0].Gap = 0
	if err := nemesis.Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	if got := did(s.clients); !slices.Equal(got, []string{"c1 pause", "c1 resume"}) {
		t.Errorf("did %q, want one pause and one resume", got)
	}
}

// A client that is held up before its release goes on once the fault is in, also when the fault could not be done.
func TestAMomentIsLetPassAfterTheFault(t *testing.T) {
	for _, clients := range [][]Target{five("c"), {rock("c1")}} {
		passed := make(chan struct{})
		s := &scene{clients: clients, moment: Moment{Client: "c1", Hold: "h1", Passed: passed}}
		play(t, "pause:holder@release", s)
		select {
		case <-passed:
		default:
			t.Error("the client still waits")
		}
	}
}

// slow is a server whose kill takes a while, as one in a container does.
type slowToEnd struct {
	victim
	sent chan struct{} // closed when SIGKILL is on its way
}

func (s *slowToEnd) Kill(ctx context.Context) error {
	_ = s.note("kill")
	close(s.sent)
	select {
	case <-time.After(50 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A step of a sequence that has a duration is taken back when it is over, before or after the last one; the others stay as long as that.
func TestAStepOfASequenceLastsForItsOwnTime(t *testing.T) {
	for _, c := range []struct {
		spec string
		did  []string // in this order
	}{
		{"pause:client(1),30ms;pause:client(2),90ms", []string{"inject c1", "inject c2", "heal c1", "heal c2"}},
		{"pause:client(1),90ms;pause:client(2),30ms", []string{"inject c1", "inject c2", "heal c2", "heal c1"}},
		{"pause:client(1);pause:client(2),30ms;pause:client(3),90ms", []string{"inject c1", "inject c2", "inject c3", "heal c2", "heal c3", "heal c1"}},
		{"pause:client(1),120ms;pause:client(2);pause:client(3),30ms", []string{"inject c1", "inject c2", "inject c3", "heal c3", "heal c2", "heal c1"}},
		{"pause:client(1),1h;failover;pause:client(2)", []string{"inject c1", "inject service", "heal c1"}}, // the round breaks off
	} {
		s := &scene{clients: five("c"), moment: Moment{Client: "c1", Hold: "h1", Work: time.Millisecond}}
		play(t, c.spec, s)
		var did []string
		for _, e := range s.events {
			if words := strings.Fields(e); words[1] == "invoke" {
				did = append(did, words[0]+" "+words[3])
			}
		}
		if !slices.Equal(did, c.did) {
			t.Errorf("%s: %q, want %q", c.spec, did, c.did)
		}
	}
}

// When the run ends a step that lasts for its own time is taken back, too.
func TestAStepWithADurationIsHealedWhenTheRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scene{clients: five("c"), completed: cancel}
	nemesis := drawSchedule(mustParse(t, "pause:client(1),1h;pause:client(2)@queue"), Conditions{Seed: 1, TTL: time.Hour, Limit: time.Millisecond})
	nemesis.rounds[0].Gap = 0
	if err := nemesis.Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	if got := did(s.clients); !slices.Equal(got, []string{"c1 pause", "c1 resume"}) {
		t.Errorf("did %q, want one pause and one resume", got)
	}
}
