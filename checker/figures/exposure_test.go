package figures

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// randomKey is a lock that few clients ask for, often at one moment.
func randomKey(r *rand.Rand) *model.Lock {
	k := &model.Lock{Name: "k"}
	for now := int64(0); len(k.Acquires) < 12; now += r.Int64N(3) {
		h := &model.Hold{ClientNumber: int32(r.IntN(3)), Key: "k", InvokeNS: now, DoneNS: now + r.Int64N(6), Outcome: history.OK}
		h.Client = fmt.Sprint("c", h.ClientNumber)
		switch r.IntN(6) {
		case 0:
			h.Outcome = history.Fail
		case 1:
			h.Outcome, h.DoneNS = history.Invoke, 0
		default:
			h.BelievedNS, h.ClaimedNS = h.DoneNS+r.Int64N(9)-2, h.DoneNS+r.Int64N(9)-2
			if r.IntN(2) == 0 {
				h.ReleaseNS = h.DoneNS + r.Int64N(9)
			}
			if r.IntN(4) == 0 {
				h.LeaseNS = h.DoneNS + 2 + r.Int64N(6)
			}
			if r.IntN(4) == 0 {
				h.LostNS = h.DoneNS + 1
			}
			k.Grants = append(k.Grants, h)
		}
		k.Acquires = append(k.Acquires, h)
	}
	slices.SortStableFunc(k.Grants, func(a, b *model.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
	return k
}

// inMilliseconds gives a lock whose times are small numbers times of which a time to live is a part.
func inMilliseconds(k *model.Lock) {
	for _, h := range k.Acquires {
		for _, at := range []*int64{&h.InvokeNS, &h.DoneNS, &h.BelievedNS, &h.ClaimedNS, &h.ReleaseNS, &h.LostNS, &h.LeaseNS} {
			*at *= 1e6
		}
	}
}

// before reports whether a grant comes before another one that was completed at the same moment.
func before(g, h *model.Hold, k *model.Lock) bool {
	return slices.Index(k.Grants, g) < slices.Index(k.Grants, h)
}

func TestContendedGrantsAreThoseThatAnotherClientWaitedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	seen := map[bool]int{}
	let := map[bool]int{}
	for range 8_000 {
		k, leased, ttlMS := randomKey(r), r.IntN(2) == 0, int64(5)
		inMilliseconds(k)
		var kept, letIn int64
		for _, h := range k.Grants {
			end := max(h.DoneNS, h.BelievedNS, h.ClaimedNS)
			if h.LostNS == 0 && h.ReleaseNS > end {
				end = h.ReleaseNS
			}
			if h.LeaseNS != 0 {
				end = min(end, h.LeaseNS)
			} else if !leased {
				end = min(end, h.DoneNS+ttlMS*1e6)
			}
			waitedFor, others := false, false
			for _, g := range k.Acquires {
				if g.ClientNumber != h.ClientNumber && g.InvokeNS < end && (g.Outcome == history.Invoke || g.DoneNS > h.DoneNS) {
					waitedFor = true
				}
				if g.ClientNumber != h.ClientNumber && g.Outcome == history.OK && g.DoneNS >= h.DoneNS && g.DoneNS < end && !before(g, h, k) {
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
		m := &model.Model{Locks: []*model.Lock{k}, Leased: leased, Plan: history.Plan{TTLMS: ttlMS}}
		if gotKept, gotLetIn := contended(m); gotKept != kept || gotLetIn != letIn {
			t.Fatalf("%d kept out and %d let in, want %d and %d:%s", gotKept, gotLetIn, kept, letIn, spellHolds(k.Acquires))
		}
	}
	if min(seen[true], seen[false], let[true], let[false]) < 3000 {
		t.Errorf("one-sided: %v", seen)
	}
}

func TestHoldsHitAreThoseBelievedInWhenTheFaultTookEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	found := 0
	for range 3_000 {
		m := &model.Model{Holds: randomKey(r).Acquires}
		for range r.IntN(4) {
			m.Faults = append(m.Faults, &model.Fault{Target: fmt.Sprint("c", r.IntN(4)), EffectiveNS: r.Int64N(20)})
		}
		for _, f := range m.Faults {
			var want []*model.Hold
			for _, h := range m.Holds {
				if f.EffectiveNS != 0 && h.Client == f.Target && h.BelievedNS > 0 && h.DoneNS <= f.EffectiveNS && f.EffectiveNS <= h.BelievedNS {
					want = append(want, h)
				}
			}
			slices.SortStableFunc(want, func(a, b *model.Hold) int { return cmp.Compare(a.DoneNS, b.DoneNS) })
			if got := m.HeldBy(f); !slices.Equal(got, want) {
				t.Fatalf("%s at %d: %s, want %s", f.Target, f.EffectiveNS, spellHolds(got), spellHolds(want))
			}
			found += len(want)
		}
	}
	if found < 500 {
		t.Errorf("%d found: nothing was tested", found)
	}
}

func spellHolds(holds []*model.Hold) (text string) {
	for _, h := range holds {
		text += fmt.Sprintf("\n%s %s [%d,%d] believed %d proven %d", h.Client, h.Outcome, h.InvokeNS, h.DoneNS, h.BelievedNS, h.ClaimedNS)
	}
	return text
}

func TestFaultsAtOnceAreThoseInEffectTogether(t *testing.T) {
	fault := func(name history.F, effective, heal int64) *model.Fault {
		return &model.Fault{Name: name, EffectiveNS: effective, HealNS: heal}
	}
	cases := []struct {
		name   string
		faults []*model.Fault
		want   int64
	}{
		{"none", nil, 0},
		{"one after the other", []*model.Fault{fault("kill", 10, 20), fault("kill", 20, 30), fault("kill", 40, 50)}, 1},
		{"two of three together", []*model.Fault{fault("kill", 10, 20), fault("kill", 15, 30), fault("kill", 25, 50)}, 2},
		{"one without a verified effect, one of another kind", []*model.Fault{fault("kill", 10, 20), fault("kill", 0, 18), fault("pause", 12, 18)}, 1},
		{"never taken back", []*model.Fault{fault("kill", 10, 0), fault("kill", 90, 95)}, 2},
	}
	for _, c := range cases {
		if got := maxConcurrent((&model.Model{Faults: c.faults, EndNS: 100}), "kill"); got != c.want {
			t.Errorf("%s: %d at once, want %d", c.name, got, c.want)
		}
	}
}
