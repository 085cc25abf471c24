package checker

import (
	"testing"
)

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
		want Verdict
	}{
		"two sessions in a row":       {"1 a acquire h1\n2 a acquire:ok h1 token=1\nfinal", Pass},
		"never got there":             {"1 a acquire h1\n2 a acquire:ok h1 token=1", Inconclusive},
		"one session only":            {start + "2.2 f1 acquire:ok f1 token=2", Inconclusive},
		"nobody for a long time":      {start + probes + "40 harness phase end", Violation},
		"not long enough to say":      {start + probes + "20 harness phase end", Inconclusive},
		"the service is down as well": {start + "3.0 harness probe:invoke 1\n3.1 harness probe:info 1\n40 harness phase end", Inconclusive},
		"the service came back late":  {start + "15 harness probe:invoke 1\n16 harness probe:info 1\n17 harness probe:invoke 2\n17.1 harness probe:ok 2\n40 harness phase end", Inconclusive},
		"the harness stood still":     {start + probes + "30 harness stall from=10\n40 harness phase end", Inconclusive},
		"a clock set back while somebody else waited": {start + probes + `
			10 harness clock-step from=9.9 by=-18
			28.5 f1 acquire:ok f1 token=2
			29 f2 acquire f2
			30 harness probe:invoke 2
			30.1 harness probe:ok 2
			61 f2 acquire:ok f2 token=3`, Violation}, // the first wait explained, not the second: no lease of before is left
		"a clock set back while somebody waits": {start + probes + `
			10 harness clock-step from=9.9 by=-20
			40 f1 acquire:ok f1 token=2
			41 f2 acquire f2
			42 f2 acquire:ok f2 token=3`, Pass},
		"a clock set back before anybody asked": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.9 harness clock-step from=1.8 by=-40
			2.0 harness phase final
			2.1 f1 acquire f1` + probes + `
			43 f1 acquire:ok f1 token=2
			44 f2 acquire f2
			45 f2 acquire:ok f2 token=3`, Pass},
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
			93 f2 acquire:ok f2 token=3`, Violation},
		"a clock set back, and forward again": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.5 harness clock-step from=1.4 by=-40
			1.9 harness clock-step from=1.8 by=40
			2.0 harness phase final
			2.1 f1 acquire f1` + probes + `
			43 f1 acquire:ok f1 token=2
			44 f2 acquire f2
			45 f2 acquire:ok f2 token=3`, Violation},
		"a failed try, then success": {start + `
			2.2 f1 acquire:fail f1 code=refused
			2.3 f2 acquire f2
			2.4 f2 acquire:ok f2 token=2
			2.5 f3 acquire f3
			2.6 f3 acquire:ok f3 token=3`, Pass},
		"a waiter whose session is gone waits on": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			40 harness phase heal
			final`, Violation},
		"a waiter that has another session": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 b lease:ok session=sc ttl=2 seen=5
			40 harness phase heal
			final`, Pass},
		"a waiter that a fault keeps busy": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 nemesis pause:invoke 1 target=n1
			5.1 nemesis pause:ok 1 target=n1
			38.0 nemesis pause:heal 1 target=n1
			38.1 nemesis pause:healed 1 target=n1
			40 harness phase heal
			final`, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			if p := result.of(Liveness); p.Verdict != test.want {
				t.Errorf("%s: %s, want %s", p.Verdict, p.Reason, test.want)
			}
		})
	}
	elsewhere := plainPlan()
	elsewhere.SameKernel = false
	if result, _ := judgeText(t, elsewhere, start+probes+"40 harness phase end"); result.of(Liveness).Verdict != NotApplicable {
		t.Errorf("on another machine: %s", result.of(Liveness).Verdict)
	}
}
