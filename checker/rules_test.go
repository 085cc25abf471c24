package checker

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func untokened() history.Plan {
	p := plainPlan()
	p.Tokens, p.TokensReason = history.TokensNone, "a plain lock gives no number"
	return p
}

func checkedPlan() history.Plan {
	p := plainPlan()
	p.Release = history.ReleaseChecked
	return p
}

// verdicts runs a history and compares what is violated.
func verdicts(t *testing.T, plan history.Plan, text, want string) *model.Result {
	t.Helper()
	result, _ := judgeText(t, plan, text)
	if got := namesViolated(result); got != want {
		t.Errorf("violated: %q, want %q", got, want)
		for _, p := range result.Properties {
			for _, f := range p.Findings {
				t.Logf("%s: %s", f.ID, f.Summary)
			}
		}
	}
	return result
}

// The histories on which simpler rules went wrong, each with the right verdict.
func TestHistoriesThatBrokeSimplerRules(t *testing.T) {
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want string
	}{
		"a renewal that never arrived extends nothing": {untokened(), `
			1.00 a acquire h1
			1.01 a lease:ok h1 ttl=2 seen=1.00
			1.02 a acquire:ok h1 seen=1.00
			2.50 a renew h1
			2.60 b acquire h2
			3.10 b acquire:ok h2 seen=3.05
			5.00 a renew:info h1`, ""},
		"a lock attached to an old lease extends nothing": {plainPlan(), `
			1.00 b lease:ok session=sb ttl=2 seen=0.95
			1.40 a lease:ok session=sa ttl=2 seen=1.40
			2.00 a acquire h1
			2.01 a acquire:ok h1 token=1 session=sa seen=2.00
			2.10 nemesis pause:invoke 1 target=a
			2.11 nemesis pause:ok 1 target=a
			2.20 b acquire h2
			3.60 b acquire:ok h2 token=2 session=sb seen=2.20`, ""},
		"a loss that was read late is no overlap": {plainPlan(), `
			1.00 a acquire h1
			1.01 a acquire:ok h1 token=1 session=sa
			1.02 b acquire h2
			5.010 b acquire:ok h2 token=2 session=sb
			5.020 a lost h1 session=sa held=4.995
			5.030 b release h2
			5.040 b release:ok h2 owned=true held=5.025`, ""},
		"an old token that was read late did not go back": {plainPlan(), `
			1.00 b acquire h1
			1.01 nemesis pause:invoke 1 target=b
			1.02 nemesis pause:ok 1 target=b
			1.10 a acquire h2
			3.60 a acquire:ok h2 token=34 session=sa seen=1.10
			4.00 a release h2
			4.01 a release:ok h2 owned=true
			5.00 b acquire:ok h1 token=33 session=sb seen=1.00`, ""},
		"votes that split prove no holder": {untokened(), `
			1.00 a acquire h1 try=true
			1.00 b acquire h2 try=true
			1.00 c acquire h3 try=true
			1.10 a acquire:fail h1 code=busy
			1.10 b acquire:fail h2 code=busy
			1.10 c acquire:fail h3 code=busy`, ""},
		"a validity counts from the winning attempt": {untokened(), `
			1.00 a acquire h1
			11.0 a acquire:ok h1 seen=10.9 valid=12.8
			11.1 b acquire h2
			11.5 b acquire:ok h2 seen=11.4 valid=13.3
			12.0 a read h1
			12.1 @ read h1
			12.1 a read:ok h1 held=12.0
			12.2 b read h2
			12.3 @ read h2
			12.3 b read:ok h2 held=12.2`, "mutual-exclusion:1"},
		"who only read leaves nothing stale": {untokened(), `
			1.00 a acquire h1
			1.00 b acquire h2
			1.10 a acquire:ok h1
			1.10 b acquire:ok h2
			1.20 a read h1
			1.21 @ read h1
			1.22 a read:ok h1
			1.30 b read h2
			1.31 @ read h2
			1.32 b read:ok h2
			1.40 a write h1 value=v1
			1.41 @ write h1
			1.42 a write:ok h1
			1.50 b exit h2`, ""},
		"who read, was overtaken and wrote by a late packet: one of the two is stale": {untokened(), `
			1.00 a acquire h1
			1.00 b acquire h2
			1.10 a acquire:ok h1
			1.10 b acquire:ok h2
			1.30 b read h2
			1.31 @ read h2
			1.32 b read:ok h2
			1.33 b write h2 value=v2
			1.40 a write h1 value=v1
			1.41 @ write h1
			1.42 a write:ok h1
			1.43 @ write h2
			1.50 b exit h2`, "stale-write:1 lost-update:1"},
		"a read repeated by a duplicated packet interleaves nothing": {untokened(), `
			1.00 a acquire h1
			1.00 b acquire h2
			1.10 b acquire:ok h2
			1.20 b read h2
			1.21 @ read h2
			1.22 b read:ok h2
			1.30 b write h2 value=v2
			1.31 @ write h2
			1.32 b write:ok h2
			1.40 b release h2
			1.41 b release:ok h2 owned=true
			1.42 a acquire:ok h1
			1.50 a read h1
			1.51 @ read h1
			1.52 a read:ok h1
			1.60 a write h1 value=v1 base=v2
			1.61 @ write h1
			1.62 a write:ok h1
			1.70 @ read h2 duplicate`, ""},
		"a lock handed to a client whose lease was gone": {plainPlan(), `
			1.00 a acquire h1
			1.01 a acquire:ok h1 token=1 session=sa
			1.10 b lease:ok session=sb ttl=2 seen=1.05
			1.20 b acquire h2
			4.00 b lease:fail session=sb
			5.00 a release h1
			5.01 a release:ok h1 owned=true
			5.02 b acquire:ok h2 token=2 session=sb seen=1.20`, "lock-linearizability:1"},
		"a lease that ran out while the machine stood still": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			2.80 harness stall from=1.5
			2.81 b acquire h2
			2.90 b acquire:ok h2 token=2 session=sb seen=2.85`, ""},
		"a lease that the wall clock, set forward, ended sooner": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.51 harness clock-step from=1.50 by=0.6
			2.31 b acquire h2
			2.45 b acquire:ok h2 token=2 session=sb seen=2.41`, ""},
		"a lease lost sooner than the wall clock, set forward, explains": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.51 harness clock-step from=1.50 by=0.6
			2.31 b acquire h2
			2.35 b acquire:ok h2 token=2 session=sb seen=2.32`, "lock-linearizability:1 early-expiry:1"},
		"a lease lost before the wall clock was set": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.11 b acquire h2
			1.15 b acquire:ok h2 token=2 session=sb seen=1.12
			1.51 harness clock-step from=1.20 by=600`, "lock-linearizability:1 early-expiry:1"},
		"a release that was never sent ends no protection": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.51 a release:fail h1 code=refused
			1.60 b acquire h2
			2.50 b acquire:ok h2 token=2 session=sb seen=1.60`, "lock-linearizability:1 early-expiry:1"},
		"a release that was sent ends the protection, with any outcome": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.51 a release:fail h1
			1.60 b acquire h2
			2.50 b acquire:ok h2 token=2 session=sb seen=1.60`, ""},
		"a late delete may remove the session's new record": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=9 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.10 a release h1
			1.20 a release:info h1
			1.30 a.2 acquire h2
			1.40 a.2 acquire:ok h2 token=2 session=sa seen=1.30
			1.60 b acquire h3
			2.50 b acquire:ok h3 token=3 session=sb seen=1.60
			2.60 a.2 release h2
			2.70 a.2 release:ok h2 owned=true`, ""},
		"a late delete of another session removes nothing": {plainPlan(), `
			0.90 a lease:ok session=s0 ttl=9 seen=0.90
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=s0
			1.10 a release h1
			1.20 a release:info h1
			1.25 a lease:ok session=sa ttl=9 seen=1.25
			1.30 a.2 acquire h2
			1.40 a.2 acquire:ok h2 token=2 session=sa seen=1.30
			1.60 b acquire h3
			2.50 b acquire:ok h3 token=3 session=sb seen=1.60
			2.60 a.2 release h2
			2.70 a.2 release:ok h2 owned=true`, "lock-linearizability:1 early-expiry:1"},
		"a cancelled acquire without an answer may remove the session's new record": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=9 seen=1.00
			1.01 a acquire h1
			1.20 a acquire:info h1 session=sa
			1.30 a.2 acquire h2
			1.40 a.2 acquire:ok h2 token=2 session=sa seen=1.30
			1.60 b acquire h3
			2.50 b acquire:ok h3 token=3 session=sb seen=1.60`, ""},
		"one that was under another session removes nothing": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=9 seen=1.00
			1.01 a acquire h1
			1.20 a acquire:info h1 session=s0
			1.30 a.2 acquire h2
			1.40 a.2 acquire:ok h2 token=2 session=sa seen=1.30
			1.60 b acquire h3
			2.50 b acquire:ok h3 token=3 session=sb seen=1.60`, "lock-linearizability:1 early-expiry:1"},
		"two grants of one session are one lost record, not two": {untokened(), `
			1.00 a lease:ok session=sa ttl=9 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 session=sa
			1.10 a acquire h2
			1.20 a acquire:ok h2 session=sa
			1.30 a release h1
			1.40 a release:ok h1 owned=true
			1.50 a release h2
			1.60 a release:fail h2 code=not-owned`, ""},
		"a session that had seen its first grant go lost the second": {untokened(), `
			1.00 a lease:ok session=sa ttl=9 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 session=sa
			1.03 a release h1
			1.04 a release:ok h1 owned=true
			1.10 a acquire h2
			1.20 a acquire:ok h2 session=sa
			1.50 a release h2
			1.60 a release:fail h2 code=not-owned`, "early-expiry:1"},
		"a session's two grants write in turn: they may be one record": {untokened(), `
			1.00 a acquire h1
			1.10 a acquire:ok h1 session=sa
			1.20 a acquire h2
			1.30 a acquire:ok h2 session=sa
			1.40 a read h2
			1.41 @ read h2
			1.42 a read:ok h2
			1.50 a write h1 value=v1
			1.51 @ write h1
			1.52 a write:ok h1`, ""},
		"two sessions' grants write in turn: one is stale": {untokened(), `
			1.00 a acquire h1
			1.10 a acquire:ok h1 session=sa
			1.20 b acquire h2
			1.30 b acquire:ok h2 session=sb
			1.40 b read h2
			1.41 @ read h2
			1.42 b read:ok h2
			1.50 a write h1 value=v1
			1.51 @ write h1
			1.52 a write:ok h1`, "stale-write:1"},
		"a lock by tokens and leases held twice, although the older was read last": {plainPlan(), `
			1.00 a acquire h1
			1.10 b acquire h2
			1.50 b acquire:ok h2 token=9
			1.60 b release h2
			1.70 b release:ok h2 owned=true
			2.00 a lease:ok session=sa ttl=3 seen=1.98
			2.00 a acquire:ok h1 token=5 session=sa
			2.05 a release h1
			2.10 a release:ok h1 owned=true`, "lock-linearizability:1"},
		"the same by tokens that prove nothing": {untokened(), `
			1.00 a acquire h1
			1.10 b acquire h2
			1.50 b acquire:ok h2
			1.60 b release h2
			1.70 b release:ok h2 owned=true
			2.00 a lease:ok session=sa ttl=3 seen=1.98
			2.00 a acquire:ok h1 session=sa
			2.05 a release h1
			2.10 a release:ok h1 owned=true`, ""},
		"a refused try of the same client takes no proof away": {checkedPlan(), `
			1.00 a acquire h1
			1.10 a acquire:ok h1 token=1 session=sa
			1.20 a.2 acquire h2 try=true
			1.30 a.2 acquire:fail h2 code=busy
			1.40 b acquire h3
			1.50 b acquire:ok h3 token=2 session=sb
			1.60 a release h1
			1.70 a release:ok h1 owned=true`, "lock-linearizability:1"},
		"an unanswered one of the same client takes it away": {plainPlan(), `
			1.00 a acquire h1
			1.10 a acquire:ok h1 token=1 session=sa
			1.20 a.2 acquire h2
			1.30 a.2 acquire:info h2
			1.40 b acquire h3
			1.50 b acquire:ok h3 token=2 session=sb
			1.60 a release h1
			1.70 a release:ok h1 owned=true`, ""},
		"a clock set back excuses nothing": {plainPlan(), `
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.51 harness clock-step from=1.50 by=-0.6
			2.81 b acquire h2
			2.85 b acquire:ok h2 token=2 session=sb seen=2.82`, "lock-linearizability:1 early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, test.plan, test.text, test.want) })
	}
}
