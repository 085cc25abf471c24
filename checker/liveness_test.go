package checker

import (
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/model"
)

// leased is a final phase after a lease of so many seconds, acknowledged at a moment.
func leased(seconds, at float64) string {
	return fmt.Sprintf(`
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		%g a lease:ok session=sa ttl=%g seen=1.2
		2.0 harness phase final
		2.1 f1 acquire f1
		`, at, seconds)
}

// skewed is a final phase after clock faults, each healed 0.1 s before it was asked for the lock.
func skewed(faults ...string) string {
	text := "1.0 a acquire h1\n1.1 a acquire:ok h1 token=1 session=sa\n"
	for _, step := range []string{"1.3 nemesis clock:invoke", "1.4 nemesis clock:ok", "1.9 nemesis clock:heal", "2.0 nemesis clock:healed"} {
		for i, f := range faults {
			text += fmt.Sprintf("%s %d %s\n", step, i+1, f)
		}
	}
	return text + "2.0 harness phase final\n2.1 f1 acquire f1\n"
}

func TestLiveness(t *testing.T) {
	const start = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		2.0 harness phase final
		2.1 f1 acquire f1
		`
	const probes = `
		3.0 harness probe:invoke 1
		3.1 harness probe:ok 1
		`
	for name, test := range map[string]struct {
		text string
		want model.Verdict
	}{
		"two sessions in a row":       {"1 a acquire h1\n2 a acquire:ok h1 token=1\nfinal", model.Pass},
		"never got there":             {"1 a acquire h1\n2 a acquire:ok h1 token=1", model.Inconclusive},
		"one session only":            {start + "2.2 f1 acquire:ok f1 token=2", model.Inconclusive},
		"no grant for a long time":    {start + probes + "40 harness phase end", model.Violation},
		"not long enough to say":      {start + probes + "20 harness phase end", model.Inconclusive},
		"the service is down as well": {start + "3.0 harness probe:invoke 1\n3.1 harness probe:info 1\n40 harness phase end", model.Inconclusive},
		"the service came back late":  {start + "15 harness probe:invoke 1\n16 harness probe:info 1\n17 harness probe:invoke 2\n17.1 harness probe:ok 2\n40 harness phase end", model.Inconclusive},
		"the harness stood still":     {start + probes + "30 harness stall from=10\n40 harness phase end", model.Inconclusive},
		"a clock set back while another waited": {start + probes + `
			10 harness clock-step from=9.9 by=-18
			28.5 f1 acquire:ok f1 token=2
			29 f2 acquire f2
			30 harness probe:invoke 2
			30.1 harness probe:ok 2
			61 f2 acquire:ok f2 token=3`, model.Violation}, // the first wait explained, not the second: no lease of before is left
		"a clock set back while one waits": {start + probes + `
			10 harness clock-step from=9.9 by=-20
			40 f1 acquire:ok f1 token=2
			41 f2 acquire f2
			42 f2 acquire:ok f2 token=3`, model.Pass},
		"a clock set back before any client asked": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.9 harness clock-step from=1.8 by=-40
			2.0 harness phase final
			2.1 f1 acquire f1` + probes + `
			43 f1 acquire:ok f1 token=2
			44 f2 acquire f2
			45 f2 acquire:ok f2 token=3`, model.Pass},
		"a clock set back so early that no lease is left of then": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.9 harness clock-step from=1.8 by=-40
			50 harness phase final
			50.1 f1 acquire f1
			51 harness probe:invoke 1
			51.1 harness probe:ok 1
			91 f1 acquire:ok f1 token=2
			92 f2 acquire f2
			93 f2 acquire:ok f2 token=3`, model.Violation},
		"a clock set back, and forward again": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.5 harness clock-step from=1.4 by=-40
			1.9 harness clock-step from=1.8 by=40
			2.0 harness phase final
			2.1 f1 acquire f1` + probes + `
			43 f1 acquire:ok f1 token=2
			44 f2 acquire f2
			45 f2 acquire:ok f2 token=3`, model.Violation},
		"a clock set forward while one waits": {start + probes + `
			10 harness clock-step from=9.9 by=20
			40 f1 acquire:ok f1 token=2
			41 f2 acquire f2
			42 f2 acquire:ok f2 token=3`, model.Violation}, // it makes no lease longer
		"a longer lease that may still run": {leased(20, 1.5) + probes + `
			100 f1 acquire:ok f1 token=2
			101 f2 acquire f2
			102 f2 acquire:ok f2 token=3`, model.Pass}, // five times 20 s
		"a longer lease that may still run is waited for no longer": {leased(20, 1.5) + probes + `
			103 f1 acquire:ok f1 token=2
			104 f2 acquire f2
			105 f2 acquire:ok f2 token=3`, model.Violation},
		"a longer lease that had run out": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.5 a lease:ok session=sa ttl=20 seen=1.4
			22 harness phase final
			22.1 f1 acquire f1
			22.2 harness probe:invoke 1
			22.3 harness probe:ok 1
			60 f1 acquire:ok f1 token=2
			61 f2 acquire f2
			62 f2 acquire:ok f2 token=3`, model.Violation},
		"a server's clock set back by its healing": {skewed("target=n1 by=90 clock=wall") + probes + `
			121 f1 acquire:ok f1 token=2
			122 f2 acquire f2
			122.1 f2 acquire:ok f2 token=3`, model.Pass}, // 90 s, less the 0.1 s since
		"a server's clock set back by its healing, and longer": {skewed("target=n1 by=90 clock=wall") + probes + `
			122.3 f1 acquire:ok f1 token=2
			123 f2 acquire f2
			123.1 f2 acquire:ok f2 token=3`, model.Violation},
		"a server's clock, which is not said": {skewed("target=n1 by=90") + probes + `
			121 f1 acquire:ok f1 token=2
			122 f2 acquire f2
			122.1 f2 acquire:ok f2 token=3`, model.Pass},
		"a server's monotonic clock": {skewed("target=n1 by=90 clock=monotonic") + probes + `
			121 f1 acquire:ok f1 token=2
			122 f2 acquire f2
			122.1 f2 acquire:ok f2 token=3`, model.Violation},
		"a client's clock": {skewed("target=a by=90 clock=wall") + probes + `
			121 f1 acquire:ok f1 token=2
			122 f2 acquire f2
			122.1 f2 acquire:ok f2 token=3`, model.Violation},
		"a server's clock that was behind, and is set forward by its healing": {skewed("target=n1 by=-90 clock=wall") + probes + `
			121 f1 acquire:ok f1 token=2
			122 f2 acquire f2
			122.1 f2 acquire:ok f2 token=3`, model.Violation},
		"two servers' clocks are not one after the other": {skewed("target=n1 by=90 clock=wall", "target=n2 by=80 clock=wall") + probes + `
			130 f1 acquire:ok f1 token=2
			131 f2 acquire f2
			131.1 f2 acquire:ok f2 token=3`, model.Violation},
		"a failed try, then success": {start + `
			2.2 f1 acquire:fail f1 code=refused
			2.3 f2 acquire f2
			2.4 f2 acquire:ok f2 token=2
			2.5 f3 acquire f3
			2.6 f3 acquire:ok f3 token=3`, model.Pass},
		"refused at once, and nobody asks for a while": {start + probes + `
			3.2 f1 acquire:fail f1 code=refused
			60 f2 acquire f2
			60.1 f2 acquire:ok f2 token=2
			61 f3 acquire f3
			61.1 f3 acquire:ok f3 token=3`, model.Pass},
		"refused after a long time, and again": {start + probes + `
			20 f1 acquire:fail f1 code=refused
			30 f2 acquire f2
			43 f2 acquire:fail f2 code=refused
			44 f3 acquire f3
			44.1 f3 acquire:ok f3 token=3`, model.Violation}, // 17.9 and 13 s
		"another lock hangs, for which the same client waits": {`
			2.0 harness phase final
			2.1 f1 acquire f1 key=other
			32.5 f1 acquire:info f1
			33 f1 acquire f2
			34 harness probe:invoke 1
			34.1 harness probe:ok 1
			80 harness phase end`, model.Violation}, // of the other alone
		"a waiter under a session of its own, when that of another grant ends": {`
			1.0 b acquire h1
			1.1 b lease:ok session=sb ttl=2 seen=1
			1.2 b acquire:ok h1 token=1 session=sb
			1.3 b acquire h2 key=other
			2.0 b release h1
			2.1 b release:ok h1 owned=true
			2.2 b lease:fail session=sb
			2.5 c acquire h3 key=other
			2.6 c acquire:ok h3 token=1
			40 harness phase heal
			40 b acquire:fail h2 code=cancelled
			final`, model.Inconclusive}, // the other lock was asked for by no fresh session
		"a waiter whose session is gone waits on": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			40 harness phase heal
			final`, model.Violation},
		"a waiter that has another session": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 b lease:ok session=sc ttl=2 seen=5
			40 harness phase heal
			final`, model.Pass},
		"a waiter that a fault keeps busy": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 nemesis pause:invoke 1 target=n1
			5.1 nemesis pause:ok 1 target=n1
			38.0 nemesis pause:heal 1 target=n1
			38.1 nemesis pause:healed 1 target=n1
			40 harness phase heal
			final`, model.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			p := propertyOf(result, model.Liveness)
			if p.Verdict != test.want || p.Count > 1 {
				t.Errorf("%s: %s, %d findings, want %s", p.Verdict, p.Reason, p.Count, test.want)
			}
		})
	}
	elsewhere := plainPlan()
	elsewhere.SameKernel = false
	if result, _ := judgeText(t, elsewhere, start+probes+"40 harness phase end"); propertyOf(result, model.Liveness).Verdict != model.NotApplicable {
		t.Errorf("on another machine: %s", propertyOf(result, model.Liveness).Verdict)
	}
}

// The finding says what the wait is held against, whose lease was acknowledged last, and which faults there were since.
func TestWordsOfALockThatHangs(t *testing.T) {
	const probe = `
		3.0 harness probe:invoke 1
		3.1 harness probe:ok 1
		`
	const killed = `
		1.2 nemesis kill:invoke 1 target=a
		1.3 nemesis kill:ok 1 target=a
		1.4 nemesis kill:heal 1 target=a
		1.5 nemesis kill:healed 1 target=a
		2.0 harness phase final
		2.1 f1 acquire f1` + probe
	for name, test := range map[string]struct {
		text  string
		want  []string
		cause string
	}{
		"nothing was set back": {leased(2, 1.5) + probe + "40 harness phase end",
			[]string{"k was not available to any fresh session for 37.9 s", "more than the 30.0 s allowed (5 × lease 2.00 s, at least 30 s)", "the last lease reported of a holder of k: a, for 2.00 s"},
			"no fault explains it"},
		"a server's clock was set back": {skewed("target=n1 by=90 clock=wall") + probe + "150 harness phase end",
			[]string{"more than the 119.9 s allowed", "and 89.9 s for the wall clock of n1, set back at 2.000 s", "no lease of k was ever reported before"},
			"it coincides with a clock skew of n1 (server) from 1.400 s to 1.900 s; k had been granted last at 1.100 s, to a"},
		"the machine's clock was set back": {"1.9 harness clock-step from=1.8 by=-40\n2 harness phase final\n2.1 f1 acquire f1\n" + probe + "80 harness phase end",
			[]string{"and 39.8 s for the machine's wall clock, set back at 1.900 s"}, "no fault explains it"},
		"the last client to be granted the lock is killed with it": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa` + killed + "40 harness phase end", []string{"k was not available"},
			"it coincides with a kill of a (holder) by 1.300 s; k had been granted last at 1.100 s, to a"},
		"a waiter was killed, and the lock is granted once more before it is reached in the queue": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.12 b acquire h2
			1.15 c acquire h3
			1.2 nemesis kill:invoke 1 target=c role=waiter
			1.3 nemesis kill:ok 1 target=c role=waiter
			1.4 a release h1
			1.5 a release:ok h1 owned=true
			1.5 b acquire:ok h2 token=2 session=sb
			1.6 b release h2
			1.7 b release:ok h2 owned=true
			1.8 nemesis kill:heal 1 target=c role=waiter
			1.8 nemesis kill:healed 1 target=c role=waiter
			2.0 harness phase final
			2.1 f1 acquire f1` + probe + "40 harness phase end", []string{"k was not available"},
			"it coincides with a kill of c (client) by 1.300 s; k had been granted last at 1.500 s, to b"},
		"the leader was changed": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 nemesis failover:invoke 1 target=service
			1.3 nemesis failover:ok 1 target=service
			1.8 nemesis failover:heal 1 target=service
			1.8 nemesis failover:healed 1 target=service
			2.0 harness phase final
			2.1 f1 acquire f1` + probe + "40 harness phase end", []string{"k was not available"},
			"it coincides with a failover by 1.300 s; k had been granted last at 1.100 s, to a"},
		"a server that was started again at once": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 nemesis kill:invoke 1 target=n1 role=one
			1.3 nemesis kill:ok 1 target=n1 role=one at_once=yes
			1.8 nemesis kill:heal 1 target=n1 role=one
			1.8 nemesis kill:healed 1 target=n1 role=one
			2.0 harness phase final
			2.1 f1 acquire f1` + probe + "40 harness phase end", []string{"k was not available"},
			"it coincides with a kill of n1 (one) by 1.300 s, after which it was started again at once; k had been granted last at 1.100 s, to a"},
		"the last client to be granted the lock gave it back, and is killed when it asks again": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.12 a release h1
			1.14 a release:ok h1 owned=true
			1.16 a acquire h2` + killed + "40 harness phase end", []string{"k was not available"},
			"it coincides with a kill of a (client) by 1.300 s; k had been granted last at 1.100 s, to a"},
		"a longer lease of another lock's holder, which may be any client's here": {`
			0.3 c acquire hc key=other
			0.4 c acquire:ok hc token=7 session=sc
			0.5 c lease:ok session=sc ttl=20 seen=0.4` + leased(2, 1.5) + probe + "110 harness phase end",
			[]string{"more than the 100.0 s allowed (5 × lease 20.0 s, at least 30 s)"}, "no fault explains it"},
		"a longer lease of another lock's hold": {`
			0.3 c acquire hc key=other
			0.4 c acquire:ok hc token=7
			0.5 c lease:ok hc ttl=20 seen=0.4` + leased(2, 1.5) + probe + "110 harness phase end",
			[]string{"more than the 100.0 s allowed (5 × lease 20.0 s, at least 30 s)"}, "no fault explains it"},
		"a fault from before the last grant": {`
			0.2 nemesis pause:invoke 1 target=n1
			0.3 nemesis pause:ok 1 target=n1
			0.7 nemesis pause:heal 1 target=n1
			0.8 nemesis pause:healed 1 target=n1` + leased(2, 1.5) + probe + "40 harness phase end", []string{"k was not available"}, "no fault explains it"},
	} {
		t.Run(name, func(t *testing.T) {
			events, requests := parse(t, test.text)
			rec := (&explain.Witness{Plan: plainPlan(), Events: events, Requests: requests}).Recording()
			result, m, err := Check(rec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if w, err := Witnesses(rec, result, m, Options{}); err != nil || len(w) != 1 || w[0].Missing != "" {
				t.Errorf("no witness: %v, %v", err, w)
			}
			p := propertyOf(result, model.Liveness)
			if len(p.Findings) != 1 {
				t.Fatalf("%s: %s, %d findings", p.Verdict, p.Reason, len(p.Findings))
			}
			text := p.Findings[0].Summary + "\n" + storyText(p.Findings[0])
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("it lacks %q:\n%s", want, text)
				}
			}
			if got := p.Findings[0].Cause.Text; got != test.cause {
				t.Errorf("the cause is %q, want %q", got, test.cause)
			}
		})
	}
}
