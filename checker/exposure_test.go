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
			k.grants = append(k.grants, h)
		}
		k.acquires = append(k.acquires, h)
	}
	slices.SortStableFunc(k.grants, func(a, b *Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	return k
}

func TestContendedGrantsAreThoseThatSomebodyElseWaitedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	seen := map[bool]int{}
	for range 5_000 {
		k := randomKey(r)
		want := int64(0)
		for _, h := range k.grants {
			waitedFor := slices.ContainsFunc(k.acquires, func(g *Hold) bool {
				return g.client != h.client && g.InvokeNS < max(h.DoneNS, h.BelievedNS, h.ProvenNS) && (g.Outcome == history.Invoke || g.DoneNS > h.DoneNS)
			})
			if seen[waitedFor]++; waitedFor {
				want++
			}
		}
		if got := newJudge(&Model{keys: []*keyView{k}}, Options{}).contended(); got != want {
			t.Fatalf("%d, want %d:%s", got, want, spellHolds(k.acquires))
		}
	}
	if min(seen[true], seen[false]) < 3000 {
		t.Errorf("one-sided: %v", seen)
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
		{"one did not take, one is of another kind", []*Fault{fault("kill", 10, 20), fault("kill", 0, 18), fault("pause", 12, 18)}, 1},
		{"never taken back", []*Fault{fault("kill", 10, 0), fault("kill", 90, 95)}, 2},
	}
	for _, c := range cases {
		if got := (&Model{Faults: c.faults, EndNS: 100}).atOnce("kill"); got != c.want {
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
