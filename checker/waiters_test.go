package checker

import (
	"regexp"
	"strings"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/model"
)

// The smallest histories in which clients that were waiting when everything was healed matter, and the nearest in which they
// do not (J8). The lock is free at 3; the phase lasts from 5 to 40.
func TestOldWaiters(t *testing.T) {
	const held = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		2.0 b acquire h2
		`
	const free = held + `
		3.0 a release h1
		3.1 a release:ok h1 owned=true
		4.0 harness phase heal
		`
	const lost = held + "3 a lost h1\n"
	const unheard = held + `
		3.0 a release h1
		3.1 a release:info h1
		3.2 c acquire h3
		3.3 c acquire:ok h3 token=2 session=sc
		3.4 c release h3
		3.5 c release:ok h3 owned=true
		4.0 harness phase heal
		`
	const phase = `
		5.0 harness phase waiting
		5.1 harness probe:invoke 1
		5.2 harness probe:ok 1
		`
	const cancelled = `
		40.0 b acquire:fail h2 code=cancelled
		final`
	for name, test := range map[string]struct {
		text string
		want model.Verdict
	}{
		"all old waiters hang, and fresh sessions get the lock": {free + phase + cancelled, model.Violation},
		"the same without the phase":                            {free + "39.9 harness probe:invoke 1\n39.95 harness probe:ok 1" + cancelled, model.Pass},
		"a waiter is granted":                                   {free + phase + "30 b acquire:ok h2 token=2 session=sb\n30.1 b release h2\n30.2 b release:ok h2 owned=true\nfinal", model.Pass},
		"a waiter is granted later than that":                   {free + phase + "39 b acquire:ok h2 token=2 session=sb\n39.1 b release h2\n39.2 b release:ok h2 owned=true\nfinal", model.Pass},
		"one of two waiters is granted": {free + "4.5 c acquire h3" + phase + `
			6 c acquire:ok h3 token=2 session=sc
			6.1 c release h3
			6.2 c release:ok h3 owned=true` + cancelled, model.Pass},
		"one that was granted before the phase is no waiter": {held + `
			2.5 c acquire h3
			3.0 a release h1
			3.1 a release:ok h1 owned=true
			4.0 harness phase heal
			4.1 c acquire:ok h3 token=2 session=sc
			4.2 c release h3
			4.3 c release:ok h3 owned=true` + phase + cancelled, model.Violation},
		"one of another lock is granted": {free + "4.5 c acquire h3 key=other" + phase + `
			6 c acquire:ok h3 token=2 session=sc
			6.1 c release h3
			6.2 c release:ok h3 owned=true` + cancelled, model.Violation},
		"a release has no answer, and another's grant proves the loss": {unheard + phase + cancelled, model.Violation},
		"the same, and a later answer claims the lock":                 {unheard + phase + "38 a.2 release h1\n38.1 a.2 release:ok h1 owned=true" + cancelled, model.Inconclusive},
		"no waiter is left":                             {"1.0 a acquire h1\n1.1 a acquire:ok h1 token=1 session=sa\n2 a release h1\n2.1 a release:ok h1 owned=true\n" + phase + "6 harness probe:invoke 3\n6.1 harness probe:ok 3\nfinal", model.Pass},
		"a waiter asked for it later":                   {"1.0 a acquire h1\n1.1 a acquire:ok h1 token=1 session=sa\n3 a release h1\n3.1 a release:ok h1 owned=true\n" + phase + "5.3 b acquire h2" + cancelled, model.Pass},
		"a waiter is refused":                           {free + phase + "20 b acquire:fail h2 code=refused\n40 harness probe:invoke 3\n40.1 harness probe:ok 3\nfinal", model.Pass},
		"a waiter is refused too late":                  {free + phase + "36 b acquire:fail h2 code=refused\n40 harness probe:invoke 3\n40.1 harness probe:ok 3\nfinal", model.Violation},
		"a waiter ends as unknown":                      {free + phase + "20 b acquire:info h2\n40 harness probe:invoke 3\n40.1 harness probe:ok 3\nfinal", model.Pass},
		"a waiter's client ends":                        {free + phase + "20 b exit h2\n20 b acquire:info h2\n40 harness probe:invoke 3\n40.1 harness probe:ok 3\nfinal", model.Pass},
		"a waiter's client is closed":                   {free + phase + "20 b close\n40 b exit h2\n40 b acquire:info h2\nfinal", model.Pass},
		"a waiter's session ends":                       {free + "4.5 b lease:ok session=sb ttl=2 seen=4.4" + phase + "20 b lease:fail session=sb" + cancelled, model.Pass},
		"a waiter's session before the one it is under": {"0.1 b lease:ok session=sb ttl=2 seen=0.1\n" + free + "4.5 b lease:ok session=sb2 ttl=2 seen=4.4\n4.6 b lease:fail session=sb\n" + phase + cancelled, model.Violation},
		"a waiter's earlier session":                    {"0.1 b lease:ok session=sb ttl=2 seen=0.1\n0.5 b lease:fail session=sb\n" + free + phase + cancelled, model.Violation},
		"a waiter's lost session":                       {free + "4.5 b lease:ok session=sb ttl=2 seen=4.4" + phase + "20 b lost session=sb" + cancelled, model.Violation},
		"a try does not wait":                           {strings.Replace(free, "b acquire h2", "b acquire h2 try=true", 1) + phase + "40 b acquire:fail h2 code=busy\nfinal", model.Pass},
		"the lock was another's for a while, and plain writes succeed after that alone": {free + "5.0 harness phase waiting\n50 x acquire h9\n51 x acquire:ok h9 token=9\n52 x release h9\n53 x release:ok h9 owned=true\n54 harness probe:invoke 1\n54.1 harness probe:ok 1\n90 b acquire:fail h2 code=cancelled\nfinal", model.Violation},
		"ended too early":               {free + phase + "20 b acquire:fail h2 code=cancelled\nfinal", model.Inconclusive},
		"the run ended, final or not":   {free + phase + "45 harness phase stopped\ncut", model.Inconclusive},
		"fresh sessions get it neither": {free + phase + "40 b acquire:fail h2 code=cancelled\n41 harness phase final\n41.1 f1 acquire f1\n41.2 harness probe:invoke 3\n41.3 harness probe:ok 3\n80 harness phase end", model.Violation},
		"only one fresh session":        {free + phase + "40 b acquire:fail h2 code=cancelled\n41 harness phase final\n41.1 f1 acquire f1\n41.2 f1 acquire:ok f1 token=5\n42 harness phase end", model.Inconclusive},
		"no probe":                      {free + "5.0 harness phase waiting" + cancelled, model.Inconclusive},
		"probes fail for a while":       {free + phase + "20 harness probe:invoke 2\n21 harness probe:info 2\n22 harness probe:invoke 3\n22.1 harness probe:ok 3" + cancelled, model.Inconclusive},
		"a stall":                       {free + phase + "20 harness stall from=12" + cancelled, model.Inconclusive},
		"a fault that is not over": {free + `
			4.1 nemesis pause:invoke 1 target=n1
			4.2 nemesis pause:ok 1 target=n1` + phase + `
			12.0 nemesis pause:heal 1 target=n1
			12.1 nemesis pause:healed 1 target=n1` + cancelled, model.Inconclusive},
		"a fault that never took": {strings.Replace(free, "3.0 a release h1", "2.2 nemesis pause:invoke 1 target=n1\n2.3 nemesis pause:fail 1 target=n1\n3.0 a release h1", 1) + phase + cancelled, model.Violation},
		"a clock set back":        {free + "4.5 harness clock-step from=4.4 by=-20" + phase + cancelled, model.Inconclusive},
		"a server's clock set back by its healing": {free + `
			4.1 nemesis clock:invoke 1 target=n1 by=10 clock=wall
			4.2 nemesis clock:ok 1 target=n1 by=10 clock=wall
			4.3 nemesis clock:heal 1 target=n1
			4.4 nemesis clock:healed 1 target=n1` + phase + cancelled, model.Inconclusive},
		"a grant that was not released":                                   {held + "4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant whose release was refused":                               {held + "3 a release h1\n3.1 a release:fail h1 code=refused\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant whose release is unknown":                                {held + "3 a release h1\n3.1 a release:info h1\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant that was released again":                                 {held + "3 a release h1\n3.1 a release:info h1\n4 harness phase heal\n4.1 a.2 release h1\n4.2 a.2 release:fail h1 code=not-owned owned=false" + phase + cancelled, model.Violation},
		"a grant whose client was killed":                                 {held + "3 a release h1\n3.1 a release:info h1\n4 harness phase heal\n4.1 a exit h1" + phase + cancelled, model.Violation},
		"a grant whose client was killed late":                            {held + "4 harness phase heal" + phase + "20 a exit h1" + cancelled, model.Inconclusive},
		"a grant that was lost":                                           {held + "3 a lost h1\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant that was lost, and another since":                        {lost + "3.1 c acquire h3\n3.2 c acquire:ok h3 token=2 session=sc\n3.3 c release h3\n3.4 c release:ok h3 owned=true\n4 harness phase heal" + phase + cancelled, model.Violation},
		"a grant whose release is unknown, and one to its client since":   {held + "3 a release h1\n3.1 a release:info h1\n3.2 a.2 acquire h3\n3.3 a.2 acquire:ok h3 token=2 session=sa\n3.4 a.2 release h3\n3.5 a.2 release:ok h3 owned=true\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant that was lost, and another whose release is unknown":     {lost + "3.1 c acquire h3\n3.2 c acquire:ok h3 token=2 session=sc\n3.3 c release h3\n3.4 c release:info h3\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"a grant that was lost, and another that may have been before it": {strings.Replace(lost, "1.1 a", "1.05 c acquire h3\n1.1 a", 1) + "3.2 c acquire:ok h3 session=sc\n3.3 c release h3\n3.4 c release:ok h3 owned=true\n4 harness phase heal" + phase + cancelled, model.Inconclusive},
		"an unknown request, and a grant since":                           {free + "4.1 c acquire h3\n4.2 c acquire:info h3\n4.3 d acquire h4\n4.4 d acquire:ok h4 token=2 session=sd\n4.5 d release h4\n4.6 d release:ok h4 owned=true" + phase + cancelled, model.Inconclusive},
		"a grant that was lost, its record removed":                       {held + "3 a lost h1 removed=true seen=2.9\n4 harness phase heal" + phase + cancelled, model.Violation},
		"a grant whose session had ended":                                 {held + "3 a lease:fail session=sa\n4 harness phase heal" + phase + cancelled, model.Violation},
		"an unknown request of a client alive":                            {free + "4.1 c acquire h3\n4.2 c acquire:info h3" + phase + cancelled, model.Inconclusive},
		"an unknown request of a dead client":                             {free + "4.1 c acquire h3\n4.2 c acquire:info h3\n4.3 c exit h3" + phase + cancelled, model.Violation},
		"an unknown request, released for good":                           {free + "4.1 c acquire h3\n4.2 c acquire:info h3\n4.3 c.2 release h3\n4.4 c.2 release:ok h3 owned=true" + phase + cancelled, model.Violation},
		"an unknown request of another lock":                              {free + "4.1 c acquire h3 key=other\n4.2 c acquire:info h3" + phase + cancelled, model.Violation},
		"a waiter given up, after it had hung":                            {free + "4.5 c acquire h3" + phase + "39 c acquire:info h3\n39.5 c exit h3" + cancelled, model.Violation},
		"one that waited for a hold, had it unread until its session was gone, and was given up then": {held + "2.1 c acquire h3\n2.3 harness probe:invoke 9\n2.4 harness probe:ok 9\n30 a release h1\n30.1 a release:ok h1 owned=true\n31 harness phase heal\n" +
			"32 harness phase waiting\n32.1 harness probe:invoke 1\n32.2 harness probe:ok 1\n49.9 c lease:ok session=sc ttl=2 seen=2.3\n50 c lease:fail session=sc\n55 c acquire:info h3 session=sc" + strings.ReplaceAll(cancelled, "40.0", "64"), model.Inconclusive},
		"one given up that waited less long":      {free + phase + "6 c acquire h3\n35.9 c acquire:info h3\n39.5 c exit h3" + strings.ReplaceAll(cancelled, "40.0", "45"), model.Inconclusive},
		"a waiter given up in the middle":         {free + "4.5 c acquire h3" + phase + "20 c acquire:info h3" + cancelled, model.Inconclusive},
		"a refused request of a client alive":     {free + "4.1 c acquire h3\n4.2 c acquire:fail h3 code=refused" + phase + cancelled, model.Violation},
		"a session is over, others still wait on": {free + "4.5 c lease:ok session=sc ttl=2 seen=4.4\n4.6 c acquire h3" + phase + "10 c lease:fail session=sc\n10.1 c acquire:fail h3 code=refused" + cancelled, model.Violation},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			p := propertyOf(result, model.Liveness)
			if p.Verdict != test.want || p.Count > 1 {
				t.Errorf("%s (%d): %s, want %s", p.Verdict, p.Count, p.Reason, test.want)
			}
			if p.Verdict == model.Violation {
				t.Log(p.Findings[0].Summary)
			} else {
				t.Log(p.Reason)
			}
		})
	}
}

// The finding says that the library lost its wake-up: who waited since when, what the last fault was, and how fresh sessions
// fared; and where they fared no better, the lock is what hangs.
func TestWordsOfALostWakeUp(t *testing.T) {
	const before = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		2.0 b acquire h2
		2.2 nemesis kill:invoke 1 target=n1 role=leader
		2.3 nemesis kill:ok 1 target=n1 role=leader
		2.8 nemesis kill:heal 1 target=n1 role=leader
		2.9 nemesis kill:healed 1 target=n1 role=leader
		3.0 a release h1
		3.1 a release:ok h1 owned=true
		3.2 c acquire h3
		5.0 harness phase waiting
		5.1 harness probe:invoke 1
		5.2 harness probe:ok 1
		40.0 b acquire:fail h2 code=cancelled
		40.0 c acquire:fail h3 code=cancelled
		`
	const waited = "b (since 2.000 s) and c (since 3.200 s) waited for k: not granted in 35.0 s after everything was healed, more than the 30.0 s allowed (5 × lease 2.00 s, at least 30 s), " +
		"and a fresh session then got it in 100 ms: the waiters' library lost its wake-up"
	const unexplained = "no fault explains it"
	const lastFault = "the last fault before was a kill of n1 (leader) from 2.300 s to 2.800 s: 1 of 2 waiters asked before that ended"
	for name, test := range map[string]struct {
		text, summary, cause string
		holds                string
	}{
		"fresh sessions get it, and every lease runs out": {before + "40.0 a lease:ok h1 ttl=2 seen=1.05\nfinal", waited, lastFault, "h2 h3 f1 f2"},
		"fresh sessions get it, and no lease is known": {before + "final",
			waited + ", or something without a lease that was reported kept the lock taken until the clients had ended", lastFault, "h2 h3 f1 f2"},
		"fresh sessions get it once the waiters' sessions are gone": {strings.Replace(before, "5.1 harness", "5.05 b lease:ok session=sb ttl=2 seen=5.0\n5.1 harness", 1) + "final",
			waited + ", or something that lived with a session kept the lock taken until the clients had ended", lastFault, "h2 h3 f1 f2"},
		"fresh sessions do not": {before + "41 harness phase final\n41.1 f1 acquire f1\n41.2 harness probe:invoke 3\n41.3 harness probe:ok 3\n80 harness phase end",
			"k was not available to any fresh session for 38.9 s, more than the 30.0 s allowed (5 × lease 2.00 s, at least 30 s), while plain writes to the service succeeded",
			"it coincides with a kill of n1 (leader) from 2.300 s to 2.800 s; k had been granted last at 1.100 s, to a", "f1"},
		"there was no fault": {regexp.MustCompile(`\s.* nemesis .*`).ReplaceAllString(before, "") + "40.0 a lease:ok h1 ttl=2 seen=1.05\nfinal",
			strings.Replace(waited, "everything was healed", "the load was over", 1), unexplained, "h2 h3 f1 f2"},
		"of a server that was started again at once": {strings.Replace(before, "kill:ok 1 target=n1 role=leader", "kill:ok 1 target=n1 role=leader at_once=yes", 1) + "40.0 a lease:ok h1 ttl=2 seen=1.05\nfinal", waited,
			"the last fault before was a kill of n1 (leader) by 2.300 s, after which it was started again at once: 1 of 2 waiters asked before that ended", "h2 h3 f1 f2"},
		"of one that had been started again when each of them asked": {strings.NewReplacer("kill:ok 1 target=n1 role=leader", "kill:ok 1 target=n1 role=leader at_once=yes", "2.0 b acquire h2", "",
			"2.8 nemesis kill:heal", "2.5 b acquire h2\n2.8 nemesis kill:heal").Replace(before) + "40.0 a lease:ok h1 ttl=2 seen=1.05\nfinal",
			strings.Replace(waited, "2.000 s", "2.500 s", 1),
			"the last fault before was a kill of n1 (leader) by 2.300 s, after which it was started again at once: 0 of 2 waiters asked before that ended", "h2 h3 f1 f2"},
	} {
		t.Run(name, func(t *testing.T) {
			events, requests := parse(t, test.text)
			rec := (&explain.Witness{Plan: plainPlan(), Events: events, Requests: requests}).Recording()
			result, m, err := Check(rec, Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := propertyOf(result, model.Liveness)
			if p.Count != 1 {
				t.Fatalf("%d findings, want 1: %v", p.Count, p.Findings)
			}
			f := p.Findings[0]
			if f.Summary != test.summary || f.Cause.Text != test.cause || strings.Join(f.Holds, " ") != test.holds {
				t.Errorf("summary %q\ncause %q\nholds %v", f.Summary, f.Cause.Text, f.Holds)
			}
			witnesses, err := Witnesses(rec, result, m, Options{})
			if err != nil || witnesses[0].Missing != "" {
				t.Fatalf("no witness: %v, %s", err, witnesses[0].Missing)
			}
			again, _, err := Check(witnesses[0].Recording(), Options{})
			if err != nil || storyText(propertyOf(again, model.Liveness).Findings[0]) != storyText(f) {
				t.Errorf("%v, the witness tells\n%s\nwant\n%s", err, storyText(propertyOf(again, model.Liveness).Findings[0]), storyText(f))
			}
			if test.cause != unexplained && (f.Cause.Fault == 0 || f.Cause.Kind != "kill of leader") {
				t.Errorf("the cause is %+v", f.Cause)
			}

		})
	}
}
