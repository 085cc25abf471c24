package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// threeUpdates are those of three holds that have all read the first value.
const threeUpdates = `
		1.00 a acquire h1
		1.10 a acquire:ok h1 token=1
		1.20 a read h1
		1.21 @ read h1
		1.22 a read:ok h1
		1.30 b acquire h2
		1.40 b acquire:ok h2 token=2
		1.41 b read h2
		1.42 @ read h2
		1.43 b read:ok h2
		1.50 c acquire h3
		1.60 c acquire:ok h3 token=3
		1.61 c read h3
		1.62 @ read h3
		1.63 c read:ok h3
		1.70 a write h1 value=x
		1.71 @ write h1
		1.72 a write:ok h1
		1.80 b write h2 value=y
		1.81 @ write h2
		1.82 b write:ok h2
		1.90 c write h3 value=z
		1.91 @ write h3
		1.92 c write:ok h3`

// excuses are histories in which something that is recorded late excuses a finding: the lines from the one that begins
// with "!" on. The nearest history has no such excuse, and the finding is reported of it however far it goes.
//
// lines that say nothing stand in between and behind, so that the recording goes on for long enough.
var excuses = []struct {
	name    string
	plan    func() history.Plan
	finding string // property and holds
	text    string
	nearest string // from the line on that excuses; "" if a finding of this kind is only reported at the end
}{
	{"the wall clock was set while the lease ran", plainPlan, "early-expiry h1 h2", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=2
		!2.01 harness clock-step from=1.99 by=1.5
		2.60 a renew h1 held=2.5`, `
		2.01 harness clock-step from=1.99 by=0.5
		2.60 a renew h1 held=2.5`},
	{"the machine stood still, and lines were read before the watchdog woke", plainPlan, "early-expiry h1 h2", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=2
		5.98 a renew h1 held=2.5
		!6.00 harness stall from=1.99`, `
		6.00 harness stall from=5.88`},
	{"the client had ended, and may have tidied up", plainPlan, "early-expiry h1 h2", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=2
		2.10 b read h2
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a exit h1 held=1.9`, `
		5.00 a exit h1 held=2.5`},
	{"the client had been told that the lock is lost", plainPlan, "early-expiry h1 h2", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=2
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a lost h1 held=1.9`, `
		5.00 a lost h1 held=2.5`},
	{"the service's own word, and the client had ended", plainPlan, "early-expiry h1", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		2.00 a lease:fail h1
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a exit h1 held=1.9`, `
		5.00 a renew h1 held=2.5`},
	{"the service's own word, after another's grant that turns out to have come while the client still held", plainPlan, "early-expiry h1", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		1.90 b acquire:ok h2 token=2
		2.00 a lease:fail h1
		2.50 a lost h1 held=1.8
		2.60 a close
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a exit h1 held=1.95`, ""},
	{"a release turns out to have removed it", plainPlan, "early-expiry h1 h2", `
		0.50 c acquire h0
		0.60 c acquire:ok h0 token=1
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=2 seen=1.00
		1.50 b acquire h2
		1.80 c release h0
		2.00 b acquire:ok h2 token=3
		2.60 a renew h1 held=2.5
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 c release:ok h0 owned=true seen=1.9`, `
		5.00 c release:fail h0 code=not-owned`},
	{"what a library tidied up turns out to have removed it", plainPlan, "early-expiry h1 h2", `
		0.50 c acquire h0
		0.60 c acquire:ok h0 token=1
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=2 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=3
		2.60 a renew h1 held=2.5
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 c lost h0 removed=true seen=1.9`, `
		5.00 c lost h0`},
	{"tokens turn out not to grow", plainPlan, "stale-write h1 h2", `
		1.00 a acquire h1
		1.00 b acquire h2
		1.10 a acquire:ok h1 token=1
		1.20 b acquire:ok h2 token=2
		1.30 b write h2 value=x
		1.31 @ write h2
		1.32 b write:ok h2
		1.40 a write h1 value=y
		1.41 @ write h1
		1.42 a write:ok h1
		2.98 harness leader n1
		3.99 c acquire h3
		!5.00 c acquire:ok h3 token=2`, ""},
	{"the wall clock was set while two held it", plainPlan, "lock-linearizability h1 h2", `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		1.99 b lease:ok h2 ttl=2 seen=1.98
		2.00 b acquire:ok h2 token=2
		!2.01 harness clock-step from=1.99 by=1.5
		2.60 a release h1 held=2.5
		2.70 a release:fail h1 code=not-owned
		2.80 b release h2 held=2.7
		2.90 b release:ok h2 owned=true
		3.00 a acquire h3
		3.10 b acquire h4`, `
		2.60 a release h1 held=2.5
		2.70 a release:fail h1 code=not-owned
		2.80 b release h2 held=2.7
		2.90 b release:ok h2 owned=true
		3.00 a acquire h3
		3.10 b acquire h4`},
	{"a third was held for longer", checkedPlan, "lock-linearizability h1 h2", `
		0.50 d acquire h0
		0.60 d acquire:ok h0 token=1
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=2 seen=1.00
		1.50 b acquire h2
		1.99 b lease:ok h2 ttl=2 seen=1.98
		2.00 b acquire:ok h2 token=3
		2.60 a release h1 held=2.5
		2.70 a release:fail h1 code=not-owned
		2.80 b release h2 held=2.75
		2.90 b release:ok h2 owned=true
		2.95 d release h0
		3.00 a acquire h3
		3.10 b acquire h4
		3.60 harness leader n1
		4.70 harness leader n2
		!5.00 d release:ok h0 owned=true seen=2.9`, ""},
	{"the hold that was over first goes on", plainPlan, "resource-linearizability h1 h3", threeUpdates + `
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a write h1 value=w base=x
		5.01 @ write h1
		5.02 a write:ok h1`, `
		5.00 a acquire h4`},
	{"a write of unknown outcome of the hold that was over first lands late", plainPlan, "resource-linearizability h1 h3", threeUpdates + `
		2.10 a write h1 value=w base=x
		2.20 a write:info h1
		2.30 a acquire h4
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 @ write h1`, ""},
	{"an answer that was pending shows what the hold had read before", plainPlan, "resource-linearizability h2 h3", `
		1.00 b acquire h2
		1.10 b acquire:ok h2 token=1
		1.20 b read h2
		1.21 @ read h2
		1.30 a acquire h1
		1.40 a acquire:ok h1 token=2
		1.70 a write h1 value=x
		1.71 @ write h1
		1.72 a write:ok h1
		1.75 b read h2
		1.76 @ read h2
		1.77 b read:ok h2
		1.78 c acquire h3
		1.79 c acquire:ok h3 token=3
		1.80 c read h3
		1.81 @ read h3
		1.82 c read:ok h3
		1.83 c write h3 value=z base=x
		1.84 @ write h3
		1.85 c write:ok h3
		1.86 b write h2 value=y base=x
		1.87 @ write h2
		1.88 b write:ok h2
		2.20 b acquire h5
		2.30 c acquire h6
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 b read:ok h2 nth=1`, `
		5.00 b read:info h2 nth=1`},
	{"a plain write fails before the lock is granted", plainPlan, "liveness f1", `
		1.00 harness phase heal
		1.00 harness phase final
		1.00 harness probe:invoke 1
		1.10 harness probe:ok 1
		1.20 f acquire f1
		40.00 harness probe:invoke 2
		40.10 harness probe:ok 2
		42.00 harness leader n1
		!43.00 harness probe:invoke 3
		44.00 harness probe:info 3
		45.00 f acquire:ok f1 token=7`, ""},
	{"fencing had something to compare", fencedPlan, "mutual-exclusion h1 h2", `
		1.00 a acquire h1
		1.10 a acquire:ok h1 token=1
		1.20 b acquire h2
		1.30 b acquire:ok h2 token=2
		1.40 a renew h1 held=1.39
		1.50 b renew h2 held=1.49
		2.98 harness leader n1
		3.99 harness leader n2
		!5.00 a write h1 value=x
		5.01 @ write h1 token=1
		5.02 a write:ok h1
		5.10 b write h2 value=y base=x
		5.11 @ write h2 token=2
		5.12 b write:ok h2`, ""},
}

// goesOn are lines that say nothing, so that what stands above them is old.
const goesOn = "\n100.0 harness leader n8\n110.0 harness leader n9"

func TestWhatIsRecordedLaterMayExcuse(t *testing.T) {
	for _, test := range excuses {
		t.Run(test.name, func(t *testing.T) {
			before, after, _ := strings.Cut(test.text, "!")
			reports := func(text string, soFar bool) bool {
				t.Helper()
				if soFar {
					text += "\ncut"
				}
				result, _, err := Check(record(t, test.plan(), text), Options{SoFar: soFar})
				if err != nil {
					t.Fatal(err)
				}
				return reportedIn(result)[test.finding] > 0
			}
			if reports(before, true) {
				t.Error("it is reported before the line that excuses it is there")
			}
			if reports(before+after, false) {
				t.Error("the whole reports it, although it is excused: the excuse is none")
			}
			if reports(before+after+goesOn, true) {
				t.Error("it is reported so far, although it is excused")
			}
			if test.nearest == "" {
				if !reports(before, false) {
					t.Error("it is not reported of a recording that ended before the excuse: there is nothing to excuse")
				}
				if reports(before+goesOn, true) {
					t.Error("it is reported before the end")
				}
				return
			}
			if !reports(before+test.nearest, false) {
				t.Error("the whole does not report it without the excuse")
			}
			if !reports(before+test.nearest+goesOn, true) {
				t.Error("it is not reported so far without the excuse")
			}
		})
	}
}

// A recording that was closed has no later lines: it is judged like any other.
func TestAClosedRecordingIsJudgedToItsEnd(t *testing.T) {
	const text = `
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 seen=1.00
		1.50 b acquire h2
		2.00 b acquire:ok h2 token=2`
	for _, soFar := range []bool{false, true} {
		result, _, err := Check(record(t, plainPlan(), text), Options{SoFar: soFar})
		if err != nil || propertyOf(result, model.EarlyExpiry).Count != 1 {
			t.Errorf("so far: %v: %+v, %v", soFar, propertyOf(result, model.EarlyExpiry), err)
		}
	}
	result, _, err := Check(record(t, plainPlan(), text+"\ncut"), Options{SoFar: true})
	if p := propertyOf(result, model.EarlyExpiry); err != nil || p.Verdict != model.Inconclusive || p.Count != 0 || p.Reason != "1 finding left out, because what is recorded later may excuse it" {
		t.Errorf("%+v, %v", p, err)
	}
}
