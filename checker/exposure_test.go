package checker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

// randomKey is a lock that few clients ask for, often at one moment.
func randomKey(r *rand.Rand) *keyView {
	k := &keyView{name: "k"}
	for now := int64(0); len(k.acquires) < 12; now += r.Int64N(3) {
		h := &Hold{client: int32(r.IntN(3)), Key: "k", InvokeNS: now, DoneNS: now + r.Int64N(6), Outcome: history.OK}
		h.Client = fmt.Sprint("c", h.client)
		switch r.IntN(6) {
		case 0:
			h.Outcome = history.Fail
		case 1:
			h.Outcome, h.DoneNS = history.Invoke, 0
		default:
			h.BelievedNS, h.ProvenNS = h.DoneNS+r.Int64N(9)-2, h.DoneNS+r.Int64N(9)-2
			if r.IntN(2) == 0 {
				h.ReleaseNS = h.DoneNS + r.Int64N(9)
			}
			if r.IntN(4) == 0 {
				h.LeaseNS = h.DoneNS + 2 + r.Int64N(6)
			}
			if r.IntN(4) == 0 {
				h.LostNS = h.DoneNS + 1
			}
			k.grants = append(k.grants, h)
		}
		k.acquires = append(k.acquires, h)
	}
	slices.SortStableFunc(k.grants, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	return k
}

// inMilliseconds gives a lock whose times are small numbers times of which a time to live is a part.
func inMilliseconds(k *keyView) {
	for _, h := range k.acquires {
		for _, at := range []*int64{&h.InvokeNS, &h.DoneNS, &h.BelievedNS, &h.ProvenNS, &h.ReleaseNS, &h.LostNS, &h.LeaseNS} {
			*at *= 1e6
		}
	}
}

// before reports whether a grant comes before another one that was completed at the same moment.
func before(g, h *Hold, k *keyView) bool {
	return slices.Index(k.grants, g) < slices.Index(k.grants, h)
}

func TestContendedGrantsAreThoseThatAnotherClientWaitedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	seen := map[bool]int{}
	let := map[bool]int{}
	for range 8_000 {
		k, leased, ttlMS := randomKey(r), r.IntN(2) == 0, int64(5)
		inMilliseconds(k)
		var kept, letIn int64
		for _, h := range k.grants {
			end := max(h.DoneNS, h.BelievedNS, h.ProvenNS)
			if h.LostNS == 0 && h.ReleaseNS > end {
				end = h.ReleaseNS
			}
			if h.LeaseNS != 0 {
				end = min(end, h.LeaseNS)
			} else if !leased {
				end = min(end, h.DoneNS+ttlMS*1e6)
			}
			waitedFor, others := false, false
			for _, g := range k.acquires {
				if g.client != h.client && g.InvokeNS < end && (g.Outcome == history.Invoke || g.DoneNS > h.DoneNS) {
					waitedFor = true
				}
				if g.client != h.client && g.Outcome == history.OK && g.DoneNS >= h.DoneNS && g.DoneNS < end && !before(g, h, k) {
					others = true
				}
			}
			seen[waitedFor]++
			let[others]++
			switch {
			case waitedFor && others:
				letIn++
			case waitedFor:
				kept++
			}
		}
		m := &Model{keys: []*keyView{k}, leased: leased, Plan: history.Plan{TTLMS: ttlMS}}
		if gotKept, gotLetIn := newJudge(m, Options{}).contended(); gotKept != kept || gotLetIn != letIn {
			t.Fatalf("%d kept out and %d let in, want %d and %d:%s", gotKept, gotLetIn, kept, letIn, spellHolds(k.acquires))
		}
	}
	if min(seen[true], seen[false], let[true], let[false]) < 3000 {
		t.Errorf("one-sided: %v", seen)
	}
}

// A lock that lets all waiting clients in was not tested (J9). One that gave a grant away when its lease was over was.
func TestALockThatLetsAllClientsInWasNotTested(t *testing.T) {
	const (
		grant = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=s1`
		asks = `
		1.3 b acquire h2`
		letIn = `
		1.4 b acquire:ok h2 token=2 session=s2`
		release = `
		1.5 a release h1
		1.6 a release:ok h1`
		end = `
		1.7 b release h2
		1.8 b release:ok h2
		final`
	)
	for name, test := range map[string]struct {
		text string
		want Verdict
		says string
	}{
		"all are let in":             {grant + asks + letIn + release + end, Inconclusive, "kept out by 0 grants, and let in by 1"},
		"one waits, and is kept out": {grant + asks + release + strings.Replace(letIn, "1.4", "1.65", 1) + end, Pass, "1 grant of a lock"},
		"the lease was over":         {grant + "\n1.2 a lease:ok session=s1 ttl=0.28 seen=1.05" + asks + letIn + release + end, Pass, "1 grant of a lock"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := fencedPlan()
			plan.Exposure = []history.Requirement{{Name: history.ExposureContended, Min: 1}}
			result, _ := judgeText(t, plan, test.text)
			if at := result.Exposure[0]; result.Verdict != test.want || !strings.Contains(at.Text, test.says) {
				t.Errorf("%s (%s): %+v", result.Verdict, result.Reason, at)
			}
		})
	}
}

func TestHoldsHitAreThoseBelievedInWhenTheFaultTookEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	found := 0
	for range 3_000 {
		m := &Model{Holds: randomKey(r).acquires}
		for range r.IntN(4) {
			m.Faults = append(m.Faults, &Fault{Target: fmt.Sprint("c", r.IntN(4)), EffectiveNS: r.Int64N(20)})
		}
		for _, f := range m.Faults {
			var want []*Hold
			for _, h := range m.Holds {
				if f.EffectiveNS != 0 && h.Client == f.Target && h.BelievedNS > 0 && h.DoneNS <= f.EffectiveNS && f.EffectiveNS <= h.BelievedNS {
					want = append(want, h)
				}
			}
			slices.SortStableFunc(want, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
			if got := m.heldBy(f); !slices.Equal(got, want) {
				t.Fatalf("%s at %d: %s, want %s", f.Target, f.EffectiveNS, spellHolds(got), spellHolds(want))
			}
			found += len(want)
		}
	}
	if found < 500 {
		t.Errorf("%d found: nothing was tested", found)
	}
}

func spellHolds(holds []*Hold) (text string) {
	for _, h := range holds {
		text += fmt.Sprintf("\n%s %s [%d,%d] believed %d proven %d", h.Client, h.Outcome, h.InvokeNS, h.DoneNS, h.BelievedNS, h.ProvenNS)
	}
	return text
}

// A majority whose members are hit one after the other never was one.
// A partition under which the lease was extended left the way to the servers open: a lock that was given back then was not outlived.
func TestALockGivenBackUnderAPartitionIsNotOutlived(t *testing.T) {
	const second = int64(1e9)
	for name, test := range map[string]struct {
		seen, released int64
		outlives       bool
	}{
		"given back before the extended lease was over": {3 * second, 4 * second, false},
		"given back afterwards":                         {3 * second, 6 * second, true},
		"cut off from the servers, too":                 {1 * second, 4 * second, true},
	} {
		m := &Model{
			Sessions: map[string]*Session{"s": {Leases: []Lease{
				{TimeNS: second + second/2, SeenNS: second + second/2, TTLNS: 2 * second}, {TimeNS: 3*second + second/10, SeenNS: test.seen, TTLNS: 2 * second}}}},
			EndNS: 20 * second,
		}
		m.acknowledge()
		f := &Fault{Name: "partition", BeginNS: 2 * second, EffectiveNS: 2 * second, HealNS: 9 * second}
		h := &Hold{Session: "s", DoneNS: 2 * second, Attempts: []*Attempt{{InvokeNS: test.released, opResult: &opResult{F: history.Release, Outcome: history.OK}}}}
		if got := m.outlivesLease(f, h); got != test.outlives {
			t.Errorf("%s: outlives is %t", name, got)
		}
	}
}

// A pause that ends while the service still counts the lease has not outlived it: no other client can have been granted the lock.
func TestAFaultOutlivesALeaseAndItsGrace(t *testing.T) {
	const second = int64(1e9)
	for _, test := range []struct {
		graceMS, healed int64
		outlives        bool
	}{{0, 3, true}, {0, 2, false}, {2000, 3, false}, {2000, 5, true}} {
		m := &Model{Plan: history.Plan{GraceMS: test.graceMS}, Sessions: map[string]*Session{"s": {Leases: []Lease{{TTLNS: 2 * second}}}}}
		m.acknowledge()
		f := &Fault{EffectiveNS: second, HealNS: test.healed * second}
		if got := m.outlivesLease(f, &Hold{Session: "s"}); got != test.outlives {
			t.Errorf("a lease of 2 s with a grace of %d ms, a fault until %d s: outlives is %t", test.graceMS, test.healed, got)
		}
	}
}

func TestFaultsAtOnceAreThoseInEffectTogether(t *testing.T) {
	fault := func(name history.F, effective, heal int64) *Fault {
		return &Fault{Name: name, EffectiveNS: effective, HealNS: heal}
	}
	cases := []struct {
		name   string
		faults []*Fault
		want   int64
	}{
		{"none", nil, 0},
		{"one after the other", []*Fault{fault("kill", 10, 20), fault("kill", 20, 30), fault("kill", 40, 50)}, 1},
		{"two of three together", []*Fault{fault("kill", 10, 20), fault("kill", 15, 30), fault("kill", 25, 50)}, 2},
		{"one without a verified effect, one of another kind", []*Fault{fault("kill", 10, 20), fault("kill", 0, 18), fault("pause", 12, 18)}, 1},
		{"never taken back", []*Fault{fault("kill", 10, 0), fault("kill", 90, 95)}, 2},
	}
	for _, c := range cases {
		if got := (&Model{Faults: c.faults, EndNS: 100}).maxConcurrent("kill"); got != c.want {
			t.Errorf("%s: %d at once, want %d", c.name, got, c.want)
		}
	}
}

func TestQuantilesAreThoseOfTheSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 5_000 {
		list := make([]int64, 1+r.IntN(300))
		for i := range list {
			list[i] = r.Int64N(1 + r.Int64N(1000))
		}
		sorted := slices.Sorted(slices.Values(list))
		at := func(percent int) int64 { return sorted[(len(list)*percent+99)/100-1] }
		want := Quantiles{int64(len(list)), at(50), at(95), at(99), sorted[len(list)-1]}
		if got := quantiles(list); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestExposuresAgreeInNumber(t *testing.T) {
	plan := plainPlan()
	plan.Exposure = []history.Requirement{{Name: "pauses-past-the-lease", Min: 3}, {Name: "losses", Min: 1}}
	once := strings.NewReplacer("token=33 %s", "token=33", "write:%s", "write:ok h1", "final", `
3.52 nemesis loss:invoke 2 target=c4
3.53 nemesis loss:ok 2 target=c4
3.54 nemesis loss:heal 2 target=c4
3.55 nemesis loss:healed 2 target=c4
final`).Replace(classic)
	result, _ := judgeText(t, plan, once)
	got := map[string]string{}
	for _, e := range result.Exposure {
		got[e.Name] = e.Text
	}
	for name, want := range map[string]string{
		"contended-grants":      "1 grant of a lock that another client was waiting for",
		"pauses":                "1 pause seen to take effect",
		"pauses-of-holders":     "1 pause of a client that believed it held a lock",
		"pauses-past-the-lease": "only 1 of at least 3 pauses of a holder that lasted past the end of its lease",
		"losses":                "1 stretch of packet loss seen to take effect",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q; all: %v", name, got[name], want, got)
		}
	}
}

// A kill hits the client that it was aimed at while that one has a lock: not while it asks for one, nor once its release was answered, nor
// another client.
func TestAKillOfAHolderHitsItsOwnHold(t *testing.T) {
	hold := func(outcome history.Type, done, released int64) *Hold {
		h := &Hold{ID: "h1", Client: "a", InvokeNS: 10, DoneNS: done, Outcome: outcome}
		if released != 0 {
			h.ReleaseNS, h.released = released-1, &Attempt{InvokeNS: released - 1, DoneNS: released}
		}
		return h
	}
	for _, c := range []struct {
		name   string
		hold   *Hold
		target string
		want   bool
	}{
		{"granted before", hold(history.OK, 20, 0), "a", true},
		{"its release is not answered", hold(history.OK, 20, 31), "a", true},
		{"its release was answered", hold(history.OK, 20, 29), "a", false},
		{"it asks for the lock", hold(history.Info, 40, 0), "a", false},
		{"it is granted the lock after that", hold(history.OK, 40, 0), "a", false},
		{"another client has the lock", hold(history.OK, 20, 0), "b", false},
	} {
		kill := &Fault{Name: history.KillFault, Target: c.target, Hold: "h1", EffectiveNS: 30}
		if got := (&Model{Holds: []*Hold{c.hold}, Faults: []*Fault{kill}}).killedHolding(kill); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHoldsRenewedPastTheirFirstLease(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int64
	}{
		"renewed, and held on": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			2.5 a lease:ok session=s1 ttl=2 seen=2.4
			3.5 a release h1
			3.6 a release:ok h1 held=3.4`, 1},
		"renewed, and given back before": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			2.5 a lease:ok session=s1 ttl=2 seen=2.4
			2.9 a release h1
			3.0 a release:ok h1 held=2.8`, 0},
		"held on, and not renewed": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			3.5 a release h1
			3.6 a release:ok h1 held=3.4`, 0},
	} {
		plan := plainPlan()
		plan.Exposure = []history.Requirement{{Name: history.ExposureRenewed, Min: 1}}
		result, _, err := Check(record(t, plan, test.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Exposure {
			if e.Name == history.ExposureRenewed && e.Count != test.want {
				t.Errorf("%s: %d, want %d", name, e.Count, test.want)
			}
		}
	}
}
