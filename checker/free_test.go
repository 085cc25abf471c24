package checker

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// plainWrites are plain writes that succeeded, one a second.
func plainWrites(from, to int) (text string) {
	for n := from; n <= to; n++ {
		text += fmt.Sprintf("%d harness probe:invoke %d\n%d harness probe:ok %d\n", n, n, n, n)
	}
	return text
}

// together are the lines of some texts in their order.
func together(texts ...string) string { return inOrder(strings.Join(texts, "\n")) }

// The smallest histories in which a lock is free while it is wanted, and the nearest in which it is not, or not known to be. A lease takes
// 2 s, and so does the grace after a fault; the bound is 30 s.
func TestFreeWhileWanted(t *testing.T) {
	const held = `
		1 a acquire h1
		1 a acquire:ok h1 token=1 session=sa
		2 b acquire h2
		3 a release h1 held=3
		3 a release:ok h1
		`
	const leased = `
		1 a acquire h1
		1 a acquire:ok h1 token=1 session=sa
		1 a lease:ok session=sa ttl=2 seen=1
		2 b acquire h2
		`
	granted := func(at int) string {
		return fmt.Sprintf("%d b acquire:ok h2 token=2\n%d b release h2\n%d b release:ok h2\n", at, at, at)
	}
	for name, test := range map[string]struct {
		text       string
		fromS, toS float64 // the longest stretch
		total      float64
		retryMS    int64
		verdict    model.Verdict
		judged     bool
	}{
		"it is handed on":               {together(held, granted(4)), 3, 4, 1, 0, model.Pass, true},
		"it waits for less than 30 s":   {together(held, granted(33)), 3, 33, 30, 0, model.Pass, true},
		"it waits for more than 30 s":   {together(held, granted(34)), 3, 34, 31, 0, model.Violation, true},
		"a client that asks each 10 s":  {together(held, granted(43)), 3, 43, 40, 10_000, model.Pass, true},
		"it asks more seldom than that": {together(held, granted(44)), 3, 44, 41, 10_000, model.Violation, true},
		"its release has no answer, and another was granted it": {together(`
			1 a acquire h1
			1 a acquire:ok h1 token=1 session=sa
			2 b acquire h2
			3 a release h1 held=3
			3 a release:info h1
			4 c acquire h3
			5 c acquire:ok h3 token=2 session=sc
			6 c release h3 held=6
			6 c release:ok h3`, granted(44)), 6, 44, 38, 0, model.Violation, true},
		"its holder's lease runs out": {together(leased, granted(44), "2 a lease:ok session=sa ttl=1 seen=2"), 3, 44, 41, 0, model.Violation, true},
		// A client reports less when in doubt (clusters/client/README.md).
		"its holder may extend it unreported": {together(leased, granted(44)), 0, 0, 0, 0, model.Pass, true},
		"its holder, told of a loss, may too": {together(leased, granted(44), "5 a lost session=sa held=4.9"), 0, 0, 0, 0, model.Pass, true},
		"its holder extends it": {together(leased, granted(44), `
			20 a lease:ok session=sa ttl=2 seen=20`), 22, 44, 22, 0, model.Pass, true},
		"its holder never gave it back, and reports no lease": {together(`
			1 a acquire h1
			1 a acquire:ok h1 token=1
			2 b acquire h2`, granted(44)), 0, 0, 0, 0, model.Pass, true},
		"the same, and another has been granted it since": {together(`
			1 a acquire h1
			1 a acquire:ok h1
			2 b acquire h2
			2 a lost h1 held=2
			3 c acquire h3
			3 c acquire:ok h3 token=1
			4 c release h3 held=4
			4 c release:ok h3`, granted(44)), 4, 44, 40, 0, model.Violation, true},
		"the same, and so has its client, whose lock may count": {together(`
			1 a acquire h1
			1 a acquire:ok h1
			2 b acquire h2
			2 a release h1 held=2
			2 a release:info h1
			3 a acquire h3
			3 a acquire:ok h3 token=1
			4 a release h3 held=4
			4 a release:ok h3`, granted(44)), 0, 0, 0, 0, model.Pass, true},
		"its holder's session is gone": {together(`
			1 a acquire h1
			1 a acquire:ok h1 token=1 session=sa
			2 b acquire h2
			5 a lease:fail session=sa`, granted(44)), 5, 44, 39, 0, model.Violation, true},
		"its holder was paused, its lease long over": {together(leased, granted(44), `
			1.5 nemesis pause:invoke 1 target=a
			1.5 nemesis pause:ok 1 target=a
			60 nemesis pause:heal 1 target=a
			60 nemesis pause:healed 1 target=a`), 3, 44, 41, 0, model.Violation, true},
		"it is let go after that, believing": {together(leased, granted(44), `
			1.5 nemesis pause:invoke 1 target=a
			1.5 nemesis pause:ok 1 target=a
			43 nemesis pause:heal 1 target=a
			43.1 nemesis pause:healed 1 target=a
			43.2 a lost h1 held=43`), 3, 44, 41, 0, model.Violation, true},
		"it believes on once it is let go": {together(leased, granted(44), `
			1.5 nemesis pause:invoke 1 target=a
			1.5 nemesis pause:ok 1 target=a
			20 nemesis pause:heal 1 target=a
			20.1 nemesis pause:healed 1 target=a
			30 a lost h1 held=28`), 3, 20, 33, 0, model.Pass, true},
		"it gives it back once it is let go": {together(leased, granted(44), `
			1.5 nemesis pause:invoke 1 target=a
			1.5 nemesis pause:ok 1 target=a
			40 nemesis pause:heal 1 target=a
			40.1 nemesis pause:healed 1 target=a
			40.2 a release h1 held=40
			40.3 a release:fail h1 code=not-owned owned=false`), 3, 44, 41, 0, model.Violation, true},
		"it proves that it had it all the time": {together(leased, granted(44), `
			1.5 nemesis pause:invoke 1 target=a
			1.5 nemesis pause:ok 1 target=a
			40 nemesis pause:heal 1 target=a
			40.1 nemesis pause:healed 1 target=a
			40.2 a release h1 held=40
			40.3 a release:ok h1 owned=true`), 40.2, 44, 3.8, 0, model.Pass, true},
		"its holder is cut off, and may renew it unanswered": {together(leased, granted(44), `
			1.5 nemesis partition:invoke 1 target=a
			1.5 nemesis partition:ok 1 target=a
			43 nemesis partition:heal 1 target=a
			43 nemesis partition:healed 1 target=a`), 0, 0, 0, 0, model.Pass, true},
		"a server is hit": {together(held, granted(44), `
			20 nemesis pause:invoke 1 target=n1
			20 nemesis pause:ok 1 target=n1
			20.5 nemesis pause:heal 1 target=n1
			20.5 nemesis pause:healed 1 target=n1`), 3, 20, 17, 0, model.Pass, true}, // and the waiter does not count after that
		"a server was hit just before it asked": {together(granted(44), `
			0.5 nemesis pause:invoke 1 target=n1
			0.5 nemesis pause:ok 1 target=n1
			0.9 nemesis pause:heal 1 target=n1
			0.9 nemesis pause:healed 1 target=n1
			2 b acquire h2`), 0, 0, 0, 0, model.Pass, true},
		"another waiter is hit, and may be its holder": {together(held, granted(44), `
			2 c acquire h3
			20 nemesis partition:invoke 1 target=c
			20 nemesis partition:ok 1 target=c
			22 nemesis partition:heal 1 target=c
			22 nemesis partition:healed 1 target=c`), 24, 44, 37, 0, model.Pass, true},
		"another waiter is given up, and lives": {together(held, granted(44), `
			2 c acquire h3
			20 c acquire:info h3`), 0, 0, 0, 0, model.Pass, true},
		"another is given up, which had waited less long": {together(held, granted(44), `
			3.5 c acquire h3
			33.2 c acquire:info h3`), 3, 3.5, 0.5, 0, model.Pass, true},
		"another is given up, which had waited too long": {together(held, granted(44), `
			2 c acquire h3
			34 c acquire:info h3`), 3, 34, 31, 0, model.Violation, true},
		"the same, and it was silent": {together(held, granted(44), `
			2 c acquire h3
			24 c silent from=20
			34 c acquire:info h3`), 0, 0, 0, 0, model.Inconclusive, true},
		"another waiter is given up, and its client ends": {together(held, granted(60), `
			2 c acquire h3
			20 c acquire:info h3
			23 c exit h3`), 25, 60, 35, 0, model.Violation, true},
		"another waiter is killed, and may have been granted it": {together(held, granted(44), `
			2 c acquire h3
			20 nemesis kill:invoke 1 target=c
			20 c exit
			20 nemesis kill:ok 1 target=c`), 22, 44, 39, 0, model.Pass, true},
		"another waiter dies by itself": {together(held, granted(44), `
			2 c acquire h3
			20 c exit code=died`), 22, 44, 39, 0, model.Pass, true},
		"another waiter's removal was acknowledged": {together(held, granted(44), `
			2 c acquire h3
			20 c acquire:fail h3 code=cancelled`), 3, 44, 41, 0, model.Violation, true},
		"the service fails plain writes": {together(held, granted(44), `
			20.1 harness probe:invoke 901
			20.2 harness probe:info 901`), 21, 44, 40, 0, model.Pass, true},
		"a plain write takes long": {together(held, granted(44), `
			20.1 harness probe:invoke 901
			25.9 harness probe:ok 901`), 21, 44, 40, 0, model.Pass, true},
		"no server leads":         {together(held, granted(44), "20 harness leader none", "21 harness leader n1"), 21, 44, 40, 0, model.Pass, true},
		"the harness stood still": {together(held, granted(44), "33 harness stall from=20"), 3, 31, 28, 0, model.Pass, true},
		"waiters follow each other": {together(held, `
			20 b acquire:fail h2 code=cancelled
			20 b acquire h4
			44 b acquire:ok h4 token=2`), 3, 44, 41, 0, model.Violation, true},
		"for a while no client waits": {together(held, `
			20 b acquire:fail h2 code=cancelled
			21 b acquire h4
			44 b acquire:ok h4 token=2`), 21, 44, 40, 0, model.Pass, true},
		"a try":                           {together("2 b acquire h2 try=true\n40 b acquire:fail h2 code=busy"), 0, 0, 0, 0, model.Pass, true},
		"the load ends while it is free":  {together(held, "20 harness phase heal", "21 harness phase waiting", granted(44)), 3, 44, 17, 0, model.Violation, true},
		"no plain write in the load":      {held + granted(44), 0, 0, 0, 0, model.Pass, false},
		"a clock of a server is set back": {together(held, granted(44), "4 harness clock-step from=3.9 by=-4"), 3, 3.9, 0.9, 0, model.Pass, true},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.RetryMS = test.retryMS
			text := test.text + "\nfinal"
			if test.judged {
				text = together(test.text, plainWrites(0, 62)) + "\nfinal"
			}
			result, _ := judgeText(t, plan, text)
			free, live := result.Stats.FreeWanted, propertyOf(result, model.Liveness)
			longest := free.Longest
			if longest.NS == 0 {
				longest.FromNS = 0
			}
			near := func(ns int64, seconds float64) bool { return math.Abs(float64(ns)/1e9-seconds) < 1e-6 }
			if !near(longest.FromNS, test.fromS) || !near(longest.FromNS+longest.NS, test.toS) || !near(free.TotalNS, test.total) || (free.NotJudged == "") != test.judged {
				t.Errorf("%+v", free)
			}
			if live.Verdict != test.verdict {
				t.Errorf("liveness is %s: %s", live.Verdict, live.Reason)
			}
		})
	}
}

// Elsewhere servers' time is another, and no plain write is made to what others run.
func TestFreeWhileWantedIsNotJudgedElsewhere(t *testing.T) {
	plan := plainPlan()
	plan.SameKernel = false
	result, _ := judgeText(t, plan, together("2 b acquire h2\n44 b acquire:ok h2 token=2", plainWrites(0, 44))+"\nfinal")
	if free := result.Stats.FreeWanted; free.NotJudged == "" || free.TotalNS != 0 {
		t.Errorf("%+v", free)
	}
}

func TestWordsOfALockThatIsFreeWhileItIsWanted(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), together(`
		1 a acquire h1
		1 a acquire:ok h1 token=1
		2 b acquire h2
		3 a release h1 held=3
		3 a release:ok h1 owned=true
		44 b acquire:ok h2 token=2`, plainWrites(0, 62))+"\nfinal")
	f := propertyOf(result, model.Liveness).Findings[0]
	if want := "no client held k for 41.0 s, from 3.000 s on, while b waited for it and plain writes to the service succeeded, more than the 30.0 s allowed (5 × lease 2.00 s, at least 30 s)"; f.Summary != want {
		t.Errorf("%q", f.Summary)
	}
	if f.AtNS != 33e9 || f.Cause.Kind != "unexplained" {
		t.Errorf("%+v", f)
	}
}

// A stretch of a second and more in which a lock hangs is none in which it is available; the milliseconds in which it is handed on are. That
// the service is able is known from 1 s on here.
func TestAvailabilityLeavesOutLocksThatHang(t *testing.T) {
	text := together("0 a acquire h1\n0.5 a acquire:ok h1 token=1\n0.5 a release h1\n0.5 a release:ok h1",
		"0.6 c acquire x1 key=other\n0.7 c acquire:ok x1 token=1\n1.6 c acquire x2 key=other\n1.7 c acquire:ok x2 token=2\n2.6 c acquire x3 key=other\n2.7 c acquire:ok x3 token=3\n3.6 c acquire x4 key=other\n3.7 c acquire:ok x4 token=4",
		"0.6 b acquire h2\n3.6 b acquire:ok h2 token=2", "4 harness phase heal", plainWrites(0, 4))
	result, _ := judgeText(t, plainPlan(), text+"\nfinal")
	if got := result.Stats.Availability; got != 0.35 {
		t.Errorf("available %v", got)
	}
}

// Operations that are never answered, and those whose answer a fault, the run's end or the end of their client kept.
func TestOperationsWithoutAnswer(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a release hangs":           {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 a release h1\n12 a release:info h1", "[{a release 1}]"},
		"it is answered info":       {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 a release h1\n3 a release:info h1", "[]"},
		"an acquire":                {"2 a acquire h1\n12 a acquire:info h1\n2.5 b acquire h2\n13 b acquire:info h2", "[{a acquire 1} {b acquire 1}]"},
		"a fault of its own":        {"2 a acquire h1\n12 a acquire:info h1\n3 nemesis pause:invoke 1 target=a\n3 nemesis pause:ok 1 target=a\n4 nemesis pause:heal 1 target=a\n4 nemesis pause:healed 1 target=a", "[]"},
		"a fault of another":        {"2 a acquire h1\n12 a acquire:info h1\n2 c acquire h9 key=other\n3 nemesis pause:invoke 1 target=c\n3 nemesis pause:ok 1 target=c\n4 nemesis pause:heal 1 target=c\n4 nemesis pause:healed 1 target=c\n5 c acquire:ok h9 token=9", "[{a acquire 1}]"},
		"a server's shortly before": {"0.5 nemesis pause:invoke 1 target=n1\n0.5 nemesis pause:ok 1 target=n1\n1 nemesis pause:heal 1 target=n1\n1 nemesis pause:healed 1 target=n1\n2 a acquire h1\n12 a acquire:info h1", "[]"},
		"a release after a pause":   {"1 a acquire h1\n1 a acquire:ok h1 token=1\n2 nemesis pause:invoke 1 target=a\n2 nemesis pause:ok 1 target=a\n4 nemesis pause:heal 1 target=a\n4 a release h1\n4.001 nemesis pause:healed 1 target=a\n14.01 a release:info h1", "[{a release 1}]"},
		"and once more stopped":     {"1 a acquire h1\n1 a acquire:ok h1 token=1\n4 a release h1\n5 nemesis pause:invoke 1 target=a\n5 nemesis pause:ok 1 target=a\n7 nemesis pause:heal 1 target=a\n7 nemesis pause:healed 1 target=a\n14.01 a release:info h1", "[]"},
		"its client ended":          {"2 a acquire h1\n5 a exit h1\n12 a acquire:info h1", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), together(test.text)+"\nfinal")
			var got []string
			for _, u := range result.Stats.WithoutAnswer {
				got = append(got, fmt.Sprintf("{%s %s %d}", u.Client, u.F, u.Count))
			}
			if s := fmt.Sprint(got); s != test.want {
				t.Errorf("%s, want %s", s, test.want)
			}
		})
	}
}

// Seconds in which a holder does the work that it was asked for are none in which the lock was not available, beyond that they are.
func TestAvailabilityDuringLongWork(t *testing.T) {
	for name, test := range map[string]struct {
		lost, held string
		want       float64
	}{
		"it believes all the time": {"", " held=4.9", 0.8},
		"it is told of its loss":   {"2.5 a lost h1 held=2.4\n", "", 0.6},
	} {
		result, _ := judgeText(t, plainPlan(), together(test.lost, `
			0 harness phase load
			0.5 a acquire h1
			0.6 a acquire:ok h1 token=1
			0.7 b acquire h2
			1.0 a write h1 value=1/h1 work=3
			5.1 a write:fail h1 value=1/h1 code=guard`+test.held+`
			6.5 a release h1
			6.6 a release:ok h1
			6.7 b acquire:ok h2 token=2
			10 harness phase heal`)+"\nfinal")
		if got := result.Stats.Availability; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// A client waits for k; of two locks each counts for itself.
func TestAvailabilityDuringLongWorkOnOneOfTwoLocks(t *testing.T) {
	works := func(client, hold, key string) string {
		return strings.NewReplacer("CLIENT", client, "HOLD", hold, "KEY", key).Replace(`
			0.5 CLIENT acquire HOLD key=KEY
			0.6 CLIENT acquire:ok HOLD key=KEY token=1
			1.0 CLIENT write HOLD value=1/HOLD work=4
			5.1 CLIENT write:fail HOLD value=1/HOLD code=guard held=5.0
			5.2 CLIENT release HOLD
			5.3 CLIENT release:ok HOLD`)
	}
	const waits = "0.7 b acquire h2\n5.4 b acquire:ok h2 token=2\n0 harness phase load\n10 harness phase heal"
	for name, test := range map[string]struct {
		works string
		want  float64
	}{
		"on both":      {works("a", "h1", "k") + works("c", "h3", "other"), 1},
		"on this":      {works("a", "h1", "k"), 1},
		"on the other": {works("c", "h3", "other"), 0.6},
	} {
		result, _ := judgeText(t, plainPlan(), together(waits, test.works, "0.2 d acquire x1 key=other2\n0.3 d acquire:ok x1 token=1")+"\nfinal")
		if got := result.Stats.Availability; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
