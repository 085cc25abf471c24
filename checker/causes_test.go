package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// fault is one of a target from one time to another.
func fault(n, kind, target, from, to, more string) string {
	return strings.NewReplacer("KIND", kind, "N", n, "TARGET", target, "FROM", from, "TO", to, "MORE", more).Replace(`
		FROM nemesis KIND:invoke N target=TARGET MORE
		FROM nemesis KIND:ok N target=TARGET MORE
		TO nemesis KIND:heal N target=TARGET MORE
		TO nemesis KIND:healed N target=TARGET MORE`)
}

// In grantedEarly a holds the lock from 2.0 under a lease until 4.0; b is granted it at 2.8, and both believe.
const grantedEarly = `
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=2.1 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		2.60 b acquire h2
		2.80 b acquire:ok h2 token=2 session=sb
		6.00 a exit h1 held=5.00
		6.00 b exit h2 held=5.00`

// A cause has to be possible, and of several the likelier one is named.
func TestCausesArePossible(t *testing.T) {
	const early = grantedEarly
	// The same, but b is granted it at 4.5: the lease has run out.
	late := strings.NewReplacer("2.60", "4.40", "2.80", "4.50").Replace(early)
	const released = `
		1.00 a acquire h1
		1.10 a acquire:ok h1 token=1 session=sa
		1.20 a write h1 value=v1
		1.30 a write:info h1
		1.40 a.2 release h1
		1.50 a.2 release:ok h1 owned=true
		1.60 b acquire h2
		1.70 b acquire:ok h2 token=2 session=sb
		1.80 b read h2
		1.81 @ read h2
		1.82 b read:ok h2
		2.50 @ write h1`
	// The lease runs until 4.0, and the release finds nothing at 3.2.
	const notOwned = `
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=2.1 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		3.10 a release h1
		3.20 a release:fail h1 code=not-owned`
	jump := fault("1", "clock", "n1", "2.50", "3.50", "role=one clock=wall by=90")
	for name, test := range map[string]struct {
		plan        func(*history.Plan)
		text        string
		of          model.Name
		kind, text2 string
	}{
		"a clock that jumped, not the pause in which the lease still ran": {nil, early + jump + fault("2", "pause", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"clock skew of one", "it coincides with a clock skew of n1 (one) for 1.00 s"},
		"no fault, where only the holder was paused and its lease still ran": {nil, early + fault("2", "pause", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"unexplained", "no fault explains it"},
		"the leader's disk, not the holder's own partition, where its release finds nothing and its lease still ran": {nil,
			notOwned + fault("1", "disk", "n1", "2.40", "3.05", "role=leader") + fault("2", "partition", "a", "2.30", "3.05", "role=holder"), model.EarlyExpiry,
			"disk fault of leader", "it coincides with a disk fault of n1 (leader) for 650 ms"},
		"the pause in which the lease ran out": {nil, late + fault("2", "pause", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"pause of holder", "a was paused (SIGSTOP) for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"a pause that began when the lease may have run out already": {nil, late + fault("2", "pause", "a", "4.20", "5.00", "role=holder"), model.MutualExclusion,
			"pause of holder", "a was paused (SIGSTOP) for 800 ms when its acknowledged lease may have expired already; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"a failover that was over before": {nil, early + fault("2", "failover", "service", "1.50", "1.87", ""), model.MutualExclusion,
			"failover", "it comes after a failover, which was over before the lock was asked for"},
		"a holder that was killed, which nobody takes back": {nil, late + fault("2", "kill", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"kill of holder", "a was killed (SIGKILL); its acknowledged lease had 1.60 s left and expired after that; a had not been told that the lock was lost"},
		"a holder that was killed, where the next fault came before its lease ran out": {nil, late + fault("2", "kill", "a", "2.40", "2.50", "role=holder"), model.MutualExclusion,
			"kill of holder", "it coincides with a kill of a; the acknowledged lease of a had 1.60 s left; a had not been told that the lock was lost"},
		"the delay in which no renewal could come before the lease ran out": {nil, late + fault("2", "delay", "a", "2.40", "5.00", "role=holder lag=1.6"), model.MutualExclusion,
			"network delay of holder", "a was delayed for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"a delay that a renewal could have outlived coincides": {nil, late + fault("2", "delay", "a", "2.40", "5.00", "role=holder lag=1.5"), model.MutualExclusion,
			"network delay of holder", "it coincides with a network delay of a for 2.60 s; the acknowledged lease of a had 1.60 s left, and no extension is known; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"so does one that a renewal which was on its way outlived": {nil, late + "\n2.50 a lease:ok session=sa ttl=2.0 seen=2.35" + fault("2", "delay", "a", "2.40", "5.00", "role=holder lag=1.7"), model.MutualExclusion,
			"network delay of holder", "it coincides with a network delay of a for 2.60 s; the acknowledged lease of a had 1.60 s left; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"so does one that let packets pass, as was seen when it was over": {nil, late + strings.Replace(fault("2", "delay", "a", "2.40", "5.00", "role=holder lag=1.6"), "healed 2 target=a role=holder lag=1.6", "healed 2 target=a role=holder", 1), model.MutualExclusion,
			"network delay of holder", "it coincides with a network delay of a for 2.60 s; the acknowledged lease of a had 1.60 s left, and no extension is known; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"the pause, not a short delay that lasted longer": {nil, late + fault("1", "delay", "a", "2.10", "5.50", "role=client lag=0.03") + fault("2", "pause", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"pause of holder", "a was paused (SIGSTOP) for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"the pause, not a delay of other packets": {nil, late + fault("1", "delay", "a", "2.10", "5.50", "role=client") + fault("2", "pause", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"pause of holder", "a was paused (SIGSTOP) for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"the next holder's pause, before a delay of other packets": {nil, late + fault("1", "delay", "a", "2.10", "5.50", "role=client") + fault("2", "pause", "b", "2.40", "5.00", "role=waiter"), model.MutualExclusion,
			"pause of next holder", "it coincides with a pause of b (next holder) for 2.60 s and a network delay of a (holder) for 3.40 s"},
		"a delay of other packets, of a write that came after the loss": {nil, released + fault("1", "delay", "a", "1.15", "2.40", "role=holder") + fault("2", "pause", "n1", "1.15", "2.40", "role=one"), model.StaleWrite,
			"network delay of holder", "it coincides with a network delay of a for 1.25 s; b got k with token 2 before that ended; a had asked to release it 1.10 s before"},
		"the leader, not a delay of the holder under which its lease was extended": {nil, "0.1 harness leader n1\n" + late + "\n2.30 a lease:ok session=sa ttl=2.0 seen=2.15" + fault("1", "delay", "a", "2.10", "5.50", "role=client lag=0.03") + fault("2", "partition", "n1", "2.40", "5.00", "role=one"), model.MutualExclusion,
			"partition of one", "it coincides with a partition of n1 (one, which led) for 2.60 s"},
		"a partition from the resource, under which the lease was extended, coincides": {nil, late + "\n2.60 a lease:ok session=sa ttl=1.8 seen=2.50" + fault("2", "partition", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"partition of holder", "it coincides with a partition of a for 2.60 s; the acknowledged lease of a had 1.60 s left; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"so does packet loss that one extension got through, beside the leader that was cut off": {nil, "0.1 harness leader n1\n" + late + "\n2.60 a lease:ok session=sa ttl=1.8 seen=2.50" + fault("1", "partition", "n1", "2.70", "5.00", "role=one") + fault("2", "loss", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"stretch of packet loss of holder", "it coincides with a stretch of packet loss of a (holder) for 2.60 s and a partition of n1 (one, which led) for 2.30 s"},
		"the partition that began when the extension was on its way": {nil, late + "\n2.60 a lease:ok session=sa ttl=1.8 seen=2.30" + fault("2", "partition", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"partition of holder", "a was cut off for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"a slowdown in which the lease ran out coincides": {nil, late + fault("2", "slow", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"slowdown of holder", "it coincides with a slowdown of a for 2.60 s; the acknowledged lease of a had 1.60 s left, and no extension is known; b got k with token 2 before that ended; a had not been told that the lock was lost"},
		"a rate limit of the holder, and the leader that was killed": {nil, "0.1 harness leader n1\n" + late + fault("1", "kill", "n1", "2.50", "2.60", "role=one") + fault("2", "rate", "a", "2.40", "5.00", "role=holder"), model.MutualExclusion,
			"rate limit of holder", "it coincides with a rate limit of a (holder) for 2.60 s and a kill of n1 (one, which led) for 100 ms"},
		"the leader, not a bystander": {nil, "0.1 harness leader n1\n" + early + fault("1", "kill", "n2", "2.40", "3.00", "role=one") + fault("2", "kill", "n1", "2.50", "2.60", "role=one"), model.MutualExclusion,
			"kill of one", "it coincides with a kill of n1 (one, which led) for 100 ms"},
		"the leader that had come back empty before, not a bystander": {nil, "0.1 harness leader n1\n" + early + fault("1", "kill", "n2", "2.40", "3.00", "role=one") + fault("2", "kill", "n1", "1.50", "1.87", "role=one"), model.MutualExclusion,
			"kill of one", "it comes after a kill of n1 (one, which led), which was over 30.0 ms before the lock was asked for"},
		"a server that had come back shortly before": {nil, early + fault("2", "kill", "n1", "1.50", "1.87", "role=one"), model.MutualExclusion,
			"kill of one", "it comes after a kill of n1 (one), which was over 30.0 ms before the lock was asked for"},
		"no fault, if it was over long before": {func(p *history.Plan) { p.EffectiveMS = 10 }, early + fault("2", "kill", "n1", "1.50", "1.87", "role=one"), model.MutualExclusion,
			"unexplained", "no fault explains it"},
		"two that may be it": {nil, early + fault("1", "kill", "n1", "2.40", "3.00", "role=one") + fault("2", "kill", "n2", "2.50", "2.60", "role=minority"), model.MutualExclusion,
			"kill of one", "it coincides with a kill of n1 (one) for 600 ms and a kill of n2 (minority) for 100 ms"},
		"one that was started again at once": {nil, early + fault("1", "kill", "n1", "2.40", "3.00", "role=one at_once=yes"), model.MutualExclusion,
			"kill of one", "it coincides with a kill of n1 (one)"},
		"one that had been started again at once": {nil, early + fault("1", "kill", "n1", "1.50", "1.87", "role=one at_once=yes"), model.MutualExclusion,
			"kill of one", "it comes after a kill of n1 (one), which was over before the lock was asked for"},
		"a clock by which no lease is counted is a bystander's": {func(p *history.Plan) { p.LeaseClock = history.ClockMonotonic }, "0.1 harness leader n1\n" + early + jump + fault("2", "pause", "n1", "2.55", "2.60", "role=one"), model.MutualExclusion,
			"pause of one", "it coincides with a pause of n1 (one, which led) for 50.0 ms"},
		"a clock by which leases are counted is not": {func(p *history.Plan) { p.LeaseClock = history.ClockWall }, "0.1 harness leader n2\n" + early + jump + fault("2", "pause", "n2", "2.55", "2.60", "role=one"), model.MutualExclusion,
			"clock skew of one", "it coincides with a clock skew of n1 (one) for 1.00 s"},
		"a step of the machine's clock": {nil, early + "\n2.70 harness clock-step from=2.69 by=-0.5", model.MutualExclusion,
			"clock step", "it coincides with a step of this machine's wall clock, by -500 ms"},
		"nothing that began after the hold's own release": {nil, released + fault("1", "pause", "a", "1.55", "2.60", "role=holder"), model.StaleWrite,
			"unexplained", "no fault explains it"},
		"what had begun before it": {nil, released + fault("1", "partition", "a", "1.15", "2.40", "role=holder"), model.StaleWrite,
			"partition of holder", "it coincides with a partition of a for 1.25 s; b got k with token 2 before that ended; a had asked to release it 1.10 s before"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			if test.plan != nil {
				test.plan(&plan)
			}
			result, _ := judgeText(t, plan, scenario(test.text))
			p := propertyOf(result, test.of)
			if len(p.Findings) != 1 {
				t.Fatalf("%d findings of %s", len(p.Findings), test.of)
			}
			if c := p.Findings[0].Cause; c.Kind != test.kind || c.Text != test.text2 {
				t.Errorf("%s: %s\nwant\n%s: %s", c.Kind, c.Text, test.kind, test.text2)
			} else if c.Unexplained() != (test.kind == "unexplained") || c.IsRelease() {
				t.Errorf("%s is unexplained: %t, a release: %t", c.Kind, c.Unexplained(), c.IsRelease())
			}
		})
	}
}

// A fault is named only while it can matter: for each kind the history in which it does, and the nearest in which it does not.
func TestAFaultIsACauseOnlyWhileItCanMatter(t *testing.T) {
	// a's lease runs out at 4.0, b asks at 4.4 and is granted the lock at 4.5; both believe until 5.
	const late = `
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=2.1 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		4.40 b acquire h2
		4.50 b acquire:ok h2 token=2 session=sb
		6.00 a exit h1 held=5.00
		6.00 b exit h2 held=5.00`
	const waits = "\n1.95 c acquire h3"
	const elsewhere = "\n1.95 c acquire h3 key=other"
	for name, test := range map[string]struct{ text, kind string }{
		"a pause of the next holder that lasted when it asked":           {late + fault("1", "pause", "b", "3.00", "4.45", "role=client"), "pause of next holder"},
		"not one that was over before":                                   {late + fault("1", "pause", "b", "3.00", "4.30", "role=client"), "unexplained"},
		"a clock of the next holder's that was off when it asked":        {late + fault("1", "clock", "b", "3.00", "4.45", "role=client by=5"), "clock skew of next holder"},
		"not one that was right again":                                   {late + fault("1", "clock", "b", "3.00", "4.30", "role=client by=5"), "unexplained"},
		"a pause of a client that waited for the lock":                   {late + waits + fault("1", "pause", "c", "3.00", "4.45", "role=client"), "pause of another client"},
		"not one of a client that waited for another":                    {late + elsewhere + fault("1", "pause", "c", "3.00", "4.45", "role=client"), "unexplained"},
		"a partition of the holder, whose lease ran out after it":        {late + fault("1", "partition", "a", "2.40", "3.00", "role=holder"), "partition of holder"},
		"not one after which the lease was extended":                     {late + "\n3.10 a lease:ok session=sa ttl=0.9 seen=3.05" + fault("1", "partition", "a", "2.40", "3.00", "role=holder"), "unexplained"},
		"a kill of all servers, not a pause of a bystander":              {late + waits + fault("1", "pause", "c", "3.00", "4.45", "role=client") + fault("2", "kill", "n1", "3.00", "3.20", "role=all"), "kill of all"},
		"a kill of all servers, not the leader's pause after it":         {"0.1 harness leader n2\n" + late + fault("1", "kill", "n1", "2.50", "4.20", "role=all") + fault("2", "pause", "n3", "2.55", "4.30", "role=one"), "kill of all"},
		"a holder's clock coincides, because it can extend all the same": {late + fault("1", "clock", "a", "2.40", "4.45", "role=holder by=5"), "clock skew of holder"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), scenario(inOrder(test.text)))
			p := propertyOf(result, model.MutualExclusion)
			if len(p.Findings) != 1 || p.Findings[0].Cause.Kind != test.kind {
				t.Fatalf("%+v", p.Findings)
			}
			if c := p.Findings[0].Cause; strings.Contains(test.kind, "clock") && !strings.HasPrefix(c.Text, "it coincides with") {
				t.Errorf("%s", c.Text)
			}
		})
	}
}

// Between when a fault was asked for and when it was seen to work it only coincides.
func TestAFaultThatWasNotYetSeenToWorkCoincides(t *testing.T) {
	for seen, want := range map[string]string{
		"2.40": "a was paused (SIGSTOP) for 2.60 s; its acknowledged lease had 1.60 s left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost",
		"4.60": "it coincides with a pause of a for 400 ms; a had not been told that the lock was lost",
	} {
		result, _ := judgeText(t, plainPlan(), scenario(inOrder(`
			1.90 a acquire h1
			1.91 a lease:ok session=sa ttl=2.1 seen=1.90
			2.00 a acquire:ok h1 token=1 session=sa
			2.40 nemesis pause:invoke 1 target=a role=holder
			`+seen+` nemesis pause:ok 1 target=a role=holder
			4.40 b acquire h2
			4.50 b acquire:ok h2 token=2 session=sb
			5.00 nemesis pause:heal 1 target=a role=holder
			5.00 nemesis pause:healed 1 target=a role=holder
			6.00 a exit h1 held=5.00
			6.00 b exit h2 held=5.00`)))
		if p := propertyOf(result, model.MutualExclusion); len(p.Findings) != 1 || p.Findings[0].Cause.Text != want {
			t.Errorf("%s: %+v", seen, p.Findings)
		}
	}
}

// The findings of one loss have its cause; what kept a write back is added to that of the write.
func TestFindingsOfOneLossShareItsCause(t *testing.T) {
	const loss = `
		1.90 a acquire h1
		2.00 a acquire:ok h1 token=1 session=sa
		2.05 a read h1
		2.06 @ read h1
		2.07 a read:ok h1
		2.60 b acquire h2
		2.80 b acquire:ok h2 token=2 session=sb
		2.90 b write h2 value=v2
		2.91 @ write h2
		2.92 b write:ok h2
		3.00 a write h1 value=v1
		5.00 @ write h1
		5.01 a write:ok h1
		6.00 a exit h1 held=5.00
		6.00 b exit h2 held=5.00`
	kill := fault("1", "kill", "n1", "2.50", "2.60", "role=all")
	for name, test := range map[string]struct{ text, overlap, write string }{
		"the kill, and a delay under which it was sent": {loss + kill + fault("2", "delay", "a", "1.50", "5.50", "role=client"),
			"it coincides with a kill of n1 (all) for 100 ms and a network delay of a (holder) for 4.00 s",
			"it coincides with a kill of n1 (all) for 100 ms and a network delay of a (holder) for 4.00 s; what came late was sent under a network delay of a (holder)"},
		"the kill, and a partition that was over before": {loss + kill + fault("2", "partition", "b", "2.85", "2.95", "role=client"),
			"it coincides with a kill of n1 (all) for 100 ms", "it coincides with a kill of n1 (all) for 100 ms"},
		"what came after the loss, where nothing explains that": {loss + fault("2", "partition", "a", "2.95", "4.90", "role=client"),
			"no fault explains it", "it coincides with a partition of a for 1.95 s; a had not been told that the lock was lost"},
		"no partition of 20 ms that was over before the write was sent": {loss + fault("2", "partition", "a", "2.95", "2.97", "role=client"),
			"no fault explains it", "no fault explains it"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), scenario(inOrder(test.text)))
			for of, want := range map[model.Name]string{model.MutualExclusion: test.overlap, model.StaleWrite: test.write} {
				if p := propertyOf(result, of); len(p.Findings) != 1 || p.Findings[0].Cause.Text != want {
					t.Errorf("%s: %+v", of, p.Findings)
				}
			}
		})
	}
}

// Who was told by the service that its record is gone, while the other's is proven to be there, lost the lock, whoever was read first.
func TestWhoLostTheLockIsOlder(t *testing.T) {
	for answer, want := range map[string]string{"release:fail h1 code=not-owned": "h1 h2", "release:info h1": "h2 h1"} {
		plan := plainPlan()
		plan.Tokens, plan.TokensReason = history.TokensNone, "none"
		result, _ := judgeText(t, plan, `
			1.00 a acquire h1
			1.00 b acquire h2
			1.10 b acquire:ok h2 session=sb
			1.20 a acquire:ok h1 session=sa
			1.40 a release h1 held=1.35
			1.50 a `+answer+`
			1.60 b release h2 held=1.55
			1.70 b release:ok h2 owned=true`)
		if p := propertyOf(result, model.MutualExclusion); len(p.Findings) != 1 || strings.Join(p.Findings[0].Holds, " ") != want {
			t.Errorf("%s: %+v", answer, p.Findings)
		}
	}
}

// A loss that the service's own answer proves has the cause of the findings beside it: the grant that took the lock is proven, too.
func TestAnEarlyLossHasTheCauseOfItsIncident(t *testing.T) {
	plan := plainPlan()
	plan.Tokens, plan.TokensReason, plan.Release = history.TokensNone, "none", history.ReleaseChecked
	result, _ := judgeText(t, plan, inOrder(`
		1.00 a acquire h1
		1.00 b acquire h2
		1.10 a lease:ok h1 ttl=2 seen=1.05
		1.10 a acquire:ok h1 session=sa
		1.20 b acquire:ok h2 session=sb
		1.40 a release h1 held=1.35
		1.50 a release:fail h1 code=not-owned owned=false
		1.60 b release h2 held=1.55
		1.70 b release:ok h2 owned=true`+fault("1", "clock", "b", "1.15", "3.00", "role=client by=5")))
	for _, name := range []model.Name{model.MutualExclusion, model.EarlyExpiry} {
		if p := propertyOf(result, name); len(p.Findings) != 1 || p.Findings[0].Cause.Kind != "clock skew of next holder" {
			t.Errorf("%s: %s %+v", name, p.Reason, p.Findings)
		}
	}
}

// Which of two holds is the older the tokens say, not the order in which grants were read, nor which of them wrote.
func TestTheOlderHoldIsToldByItsToken(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), `
		1.00 a acquire h1
		1.00 b acquire h2
		1.10 b acquire:ok h2 token=2
		1.20 b read h2
		1.21 @ read h2
		1.22 b read:ok h2
		1.30 a acquire:ok h1 token=1
		1.40 a write h1 value=v1
		1.41 @ write h1
		1.42 a write:ok h1
		1.50 b write h2 value=v2
		1.51 @ write h2
		1.52 b write:ok h2
		2.00 a exit h1 held=1.9
		2.00 b exit h2 held=1.9`)
	for _, name := range []model.Name{model.MutualExclusion, model.StaleWrite, model.LostUpdate} {
		p := propertyOf(result, name)
		if len(p.Findings) != 1 || strings.Join(p.Findings[0].Holds, " ") != "h1 h2" || p.Findings[0].Incident != "h1" {
			t.Errorf("%s: %+v", name, p.Findings)
		}
	}
}

// A failover is seen when another server leads, after the grants that it led to: the story tells when it was asked for.
func TestAFailoverIsToldWhenItWasAskedFor(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), scenario(`
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=5 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		2.10 nemesis failover:invoke 1 target=service
		2.60 b acquire h2
		2.80 b acquire:ok h2 token=2 session=sb
		4.00 nemesis failover:ok 1 target=service
		5.00 a exit h1 held=4.50`))
	p := propertyOf(result, model.EarlyExpiry)
	if len(p.Findings) != 1 {
		t.Fatalf("%+v", p)
	}
	f, story := p.Findings[0], ""
	for _, l := range f.Story {
		story += history.Moment(l.TimeNS) + " " + l.Text + "\n"
	}
	if f.Cause.Kind != "failover" || f.Cause.Text != "it coincides with a failover" || f.Cause.Fault != 1_000_001 || !strings.Contains(story, "2.100 s service asked for another leader\n") {
		t.Errorf("cause %+v, story\n%s", f.Cause, story)
	}
}

// What the history has as the end of a failover, or of a client's kill, is the pause before the next fault: the story tells of none. A
// server that was killed is started again then.
func TestOnlyWhatLastedHasAnEndInTheStory(t *testing.T) {
	for target, f := range map[string]string{
		"service": fault("1", "failover", "service", "2.20", "2.50", ""), "a": fault("1", "kill", "a", "2.20", "2.50", "role=holder"), "n1": fault("1", "kill", "n1", "2.20", "2.50", "role=one"),
	} {
		result, _ := judgeText(t, plainPlan(), scenario(`
			1.90 a acquire h1
			1.91 a lease:ok session=sa ttl=0.2 seen=1.90
			2.00 a acquire:ok h1 token=1 session=sa
			2.60 b acquire h2
			2.80 b acquire:ok h2 token=2 session=sb
			5.00 a exit h1 held=4.50
			5.00 b exit h2 held=4.50`, f))
		p := propertyOf(result, model.MutualExclusion)
		if len(p.Findings) != 1 {
			t.Fatalf("%s: %+v", target, p)
		}
		story := storyText(p.Findings[0])
		if !strings.Contains(story, "2.200 s "+target) || strings.Contains(story, "2.500 s n1 started again after 300 ms") != (target == "n1") || strings.Contains(story, "2.500 s") != (target == "n1") {
			t.Errorf("%s:\n%s", target, story)
		}
	}
}

// A story says that a release was sent only where it was.
func TestAReleaseThatWasNotSentIsNotInTheStory(t *testing.T) {
	for end, want := range map[string]string{
		"":                                      "a began to release k; the outcome is unknown",
		"2.30 a release:info h1":                "a began to release k; the outcome is unknown",
		"2.30 a release:fail h1 code=refused":   "a began to release k, but its request was never sent",
		"2.30 a release:fail h1 code=not-owned": "a asked to release k and was told that it did not hold it any more",
		"2.30 a release:ok h1 owned=true":       "a released k",
	} {
		result, _ := judgeText(t, plainPlan(), scenario(`
			1.90 a acquire h1
			2.00 a acquire:ok h1 token=1 session=sa
			2.05 b acquire h2
			2.10 b acquire:ok h2 token=2 session=sb
			2.20 a release h1
			2.40 a exit h1 held=2.15
			2.90 b exit h2 held=2.80`, end))
		found := false
		for _, f := range propertyOf(result, model.MutualExclusion).Findings {
			for _, l := range f.Story {
				found = found || l.Text == want
			}
		}
		if !found {
			t.Errorf("%q: no line says %q: %+v", end, want, propertyOf(result, model.MutualExclusion).Findings)
		}
	}
}
