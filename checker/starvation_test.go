package checker

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// The smallest histories in which a client starves, and the nearest in which it does not. A lease takes 2 s, and so does
// the grace after a fault.
func TestStarvation(t *testing.T) {
	const held = `
		1 a acquire h1
		1 a acquire:ok h1 token=1
		2 b acquire h2
		3 a release h1 held=3
		3 a release:ok h1
		`
	const granted = `
		13 b acquire:ok h2 token=2
		13 b release h2
		13 b release:ok h2
		`
	for name, test := range map[string]struct {
		text       string
		fromS, toS float64
		who        string // client and lock
		long       bool
	}{
		"it waits for a lock that is free":     {held + granted + "final", 3, 13, "b of k", true},
		"it waits for as long as three leases": {held + "9 b acquire:ok h2 token=2\nfinal", 3, 9, "b of k", false},
		"never granted":                        {held + "final", 3, 4, "b of k", false}, // up to the final phase
		"in the phases after the load, too":    {held + "4 harness phase heal\n5 harness phase waiting\n14 b acquire:fail h2 code=cancelled\n15 harness phase final", 3, 14, "b of k", true},
		"the lock is held":                     {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 b acquire h2\n12.5 a release h1 held=12.5\n12.6 a release:ok h1" + granted + "final", 12.5, 13, "b of k", false},
		"the lock is proven to be held":        {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 b acquire h2\n12.5 a release h1\n12.6 a release:ok h1 owned=true" + granted + "final", 12.5, 13, "b of k", false},
		"another is granted it in between": {held + `
			4 c acquire h3
			6 c acquire:ok h3 token=2
			6 c release h3
			6 c release:ok h3` + granted + "final", 6, 13, "b of k", true},
		"no client waits": {"1 a acquire h1\n1 a acquire:ok h1 token=1\n3 a release h1 held=3\n3 a release:ok h1\n12 b acquire h2" + granted + "final", 12, 13, "b of k", false},
		"two wait one after the other": {held + `
			8 b acquire:fail h2 code=cancelled
			8.5 c acquire h3
			13 c acquire:ok h3 token=2
			final`, 3, 8, "b of k", false},
		"it is killed": {held + "7 b exit h2\nfinal", 3, 7, "b of k", false},
		"a try":        {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 b acquire h2 try=true\n3 a release h1 held=3\n3 a release:ok h1" + granted + "final", 0, 0, " of ", false},
		"another lock": {held + "3.5 c acquire h3 key=other\n4 c acquire:ok h3 token=7" + granted + "final", 3, 13, "b of k", true},
		"during a fault": {held + `
			4 nemesis pause:invoke 1 target=n1
			4 nemesis pause:ok 1 target=n1
			9 nemesis pause:heal 1 target=n1
			9 nemesis pause:healed 1 target=n1` + granted + "final", 11, 13, "b of k", false},
		"long after a fault":           {"0.1 nemesis pause:invoke 1 target=n1\n0.1 nemesis pause:ok 1 target=n1\n0.2 nemesis pause:heal 1 target=n1\n0.2 nemesis pause:healed 1 target=n1" + held + granted + "final", 3, 13, "b of k", true},
		"a fault that never took":      {held + "4 nemesis pause:invoke 1 target=n1\n4 nemesis pause:fail 1 target=n1" + granted + "final", 3, 13, "b of k", true},
		"it is silent":                 {held + "8 b silent from=4" + granted + "final", 8, 13, "b of k", false},
		"another that waits is silent": {held + "3 c acquire h3\n8 c silent from=4\n9 c acquire:fail h3 code=cancelled" + granted + "final", 8, 13, "b of k", false},
		"another was silent":           {held + "3 c acquire h3\n3.5 c acquire:fail h3 code=cancelled\n8 c silent from=4" + granted + "final", 3, 13, "b of k", true},
		"a stall":                      {held + "6 harness stall from=5" + granted + "final", 3, 12, "b of k", true},
		"a clock set back":             {held + "4 harness clock-step from=3.9 by=-4" + granted + "final", 10, 13, "b of k", false},
		"a clock set forward":          {held + "4 harness clock-step from=3.9 by=4" + granted + "final", 3, 13, "b of k", true},
		"a server's clock set back by its healing": {`
			0.5 nemesis clock:invoke 1 target=n1 by=7
			0.5 nemesis clock:ok 1 target=n1 by=7
			0.9 nemesis clock:heal 1 target=n1
			0.9 nemesis clock:healed 1 target=n1` + held + granted + "final", 9.9, 13, "b of k", false},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			s := result.Stats.Starved
			if s.NS == 0 {
				s.FromNS = 0
			}
			near := func(ns int64, seconds float64) bool { return math.Abs(float64(ns)/1e9-seconds) < 1e-6 }
			if !near(s.FromNS, test.fromS) || !near(s.FromNS+s.NS, test.toS) || s.Client+" of "+s.Key != test.who || s.Long != test.long {
				t.Errorf("%+v, long %v", s, s.Long)
			}
		})
	}
}

// Against looking at every second of every wait, in histories in which everything happens at whole seconds.
func TestStarvationAgreesWithLookingAtEverySecond(t *testing.T) {
	var starved atomic.Int64
	n := testkit.Histories(t, 3000)
	testkit.InParallel(t, n, func(seed uint64) error {
		h := randomEnding(seed)
		result, m, err := Check(scribedRecording(h), Options{Properties: []model.Name{}})
		if err != nil {
			return err
		}
		s := result.Stats.Starved
		if want := longestStarving(m); s.NS != want*aSecond {
			return fmt.Errorf("%+v, want %d s\n%s", s, want, newOracle(h.Plan, h.Events, h.Requests))
		}
		if s.Long {
			starved.Add(1)
		}
		return nil
	})
	share := float64(starved.Load()) / float64(n)
	t.Logf("starved for long in %.0f %%", 100*share)
	if n >= 1000 && (share < 0.1 || share > 0.9) {
		t.Errorf("starved for long in %.0f %%: one-sided", 100*share)
	}
}

// longestStarving is, in seconds, the longest stretch of one wait in which nothing disturbs and the lock is free.
func longestStarving(m *model.Model) (longest int64) {
	from, _ := m.Phase(history.PhaseLoad)
	to, _ := m.Phase(history.PhaseFinal)
	for _, h := range m.Holds {
		run := int64(0)
		for s := max(from, h.InvokeNS); s+aSecond <= min(to, m.WaitedUntil(h)) && !h.Try; s += aSecond {
			if grantAt(m, s) {
				run = 0
			}
			if disturbedAt(m, s) {
				run = 0
				continue
			}
			if !slices.ContainsFunc(m.Stalls, func(stall model.Span) bool { return stall.FromNS <= s && stall.ToNS > s }) {
				run++
			}
			longest = max(longest, run)
		}
	}
	return longest
}

// grantAt reports whether a grant came at the beginning of a second.
func grantAt(m *model.Model, s int64) bool {
	for _, g := range m.Holds {
		if g.Outcome == history.OK && g.DoneNS == s {
			return true
		}
	}
	return false
}

// disturbedAt reports whether, in a second, the lock is held, or a fault or a clock that was set back may still matter.
func disturbedAt(m *model.Model, s int64) bool {
	recovery := (m.Plan.EffectiveMS + m.Plan.GraceMS + m.Plan.ElectionMS + m.Plan.LockDelayMS) * 1e6
	in := func(from, to int64) bool { return from < s+aSecond && to > s }
	for _, k := range m.Locks {
		if slices.ContainsFunc(m.Silences(k), func(silent model.Span) bool { return in(silent.FromNS, silent.ToNS) }) {
			return true
		}
	}
	for _, g := range m.Holds {
		if g.Outcome == history.OK && in(g.DoneNS, max(g.BelievedNS, g.ProvenNS)) {
			return true
		}
	}
	for _, step := range m.Steps {
		if step.ByNS < 0 && in(step.FromNS, step.ToNS-step.ByNS+recovery) {
			return true
		}
	}
	for _, f := range m.Faults {
		back := int64(0)
		if f.Name == "clock" && f.SkewNS > 0 && f.HealedNS != 0 && m.Clients[f.Target] == nil {
			back = f.SkewNS
		}
		if (f.Error == "" || f.EffectiveNS != 0) && in(f.BeginNS, f.GoneNS(m.EndNS)+back+recovery) {
			return true
		}
	}
	return false
}
