package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

func TestPrematureLoss(t *testing.T) {
	const grant = `
		1.00 a acquire h1
		1.01 a lease:ok session=sa ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 session=sa seen=1.00
		`
	for name, test := range map[string]struct{ text, want string }{
		"another's grant inside the lease": {grant + `
			1.5 b acquire h2
			2.5 b acquire:ok h2 token=2 session=sb
			3.5 a exit h1 held=3.0`, "lock-linearizability:0 early-expiry:1"},
		"queued before, ordered by its token": {`0.9 b acquire h2` + grant + `
			2.5 b acquire:ok h2 token=2 session=sb
			3.5 a exit h1 held=3.0`, "early-expiry:1"},
		"queued before, granted before, read late": {`0.9 b acquire h2` + grant + `
			2.5 b acquire:ok h2 token=0 session=sb
			3.5 a exit h1 held=3.0`, ""},
		"after the lease": {grant + `
			1.5 b acquire h2
			3.1 b acquire:ok h2 token=2 session=sb
			3.5 a exit h1 held=3.0`, ""},
		"kept alive": {grant + `
			2.0 a lease:ok session=sa ttl=2 seen=1.9
			1.5 b acquire h2
			3.1 b acquire:ok h2 token=2 session=sb
			3.9 a exit h1 held=3.8`, "early-expiry:1"},
		"after its own release, with any outcome": {grant + `
			1.5 b acquire h2
			1.6 a release h1
			2.5 b acquire:ok h2 token=2 session=sb
			2.6 a release:info h1`, ""},
		"after the closing of its session": {grant + `
			1.5 b acquire h2
			1.6 a close
			2.5 b acquire:ok h2 token=2 session=sb
			2.6 a exit h1 held=1.6`, ""},
		"after the closing of its session, which has not ended yet": {grant + `
			1.5 b acquire h2
			1.6 a close
			2.5 b acquire:ok h2 token=2 session=sb`, ""},
		"by a client that ended by itself and may have tidied up": {grant + `
			1.5 b acquire h2
			2.5 b acquire:ok h2 token=2 session=sb
			2.6 a exit h1 held=1.6`, ""},
		"by a client that died and tidied up, its end read after it was asked to close": {grant + `
			1.5 b acquire h2
			2.5 b acquire:ok h2 token=2 session=sb
			2.55 a close
			2.6 a exit h1 held=1.6`, ""},
		"after it was told and may have tidied up": {grant + `
			1.5 b acquire h2
			1.6 a lost h1 session=sa held=1.58
			2.5 b acquire:ok h2 token=2 session=sb`, ""},
		"its release is told that it is not the owner": {grant + `
			1.5 a release h1
			1.6 a release:fail h1 code=not-owned`, "early-expiry:1"},
		"its release is told so after the lease": {grant + `
			3.1 a release h1
			3.2 a release:fail h1 code=not-owned`, ""},
		"its second release is told so, the first may have worked": {grant + `
			1.5 a release h1
			1.6 a release:info h1
			1.7 a.2 release h1
			1.8 a.2 release:fail h1 code=not-owned`, ""},
		"the service says that the lease is gone": {grant + `
			1.5 a lease:fail session=sa
			1.6 a lost h1 session=sa held=1.45`, "early-expiry:1"},
		"another's release was under way": {`
			0.1 b acquire h0
			0.2 b acquire:ok h0 token=0 session=sb
			` + grant + `
			1.1 b release h0
			1.2 c acquire h2
			1.5 c acquire:ok h2 token=2 session=sc
			1.9 b release:info h0
			3.5 a exit h1 held=3.0`, "early-expiry:1"},
		"another's release was over long before": {`
			0.1 b acquire h0
			0.2 b acquire:ok h0 token=0 session=sb
			0.3 b release h0
			0.4 b release:ok h0 owned=true
			` + grant + `
			1.2 c acquire h2
			1.5 c acquire:ok h2 token=2 session=sc
			3.5 a exit h1 held=3.0`, "early-expiry:1"},
		"its own stale release removed the new grant": {grant + `
			1.1 a release h1
			1.2 a release:info h1
			1.3 a.2 acquire h2
			1.4 a.2 acquire:ok h2 token=2 session=sa
			1.5 b acquire h3
			1.6 b acquire:ok h3 token=3 session=sb
			2.9 a exit h2 held=2.8`, ""},
		"on another machine nothing is judged": {grant + `
			1.5 b acquire h2
			2.5 b acquire:ok h2 token=2 session=sb
			3.5 a exit h1 held=3.0`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.SameKernel = !strings.Contains(name, "another machine")
			lines := strings.Split(test.text, "\n")
			result, _ := judgeText(t, plan, strings.Join(sortedByTime(lines), "\n"))
			var early []string
			for _, p := range strings.Fields(namesViolated(result)) {
				if strings.HasPrefix(p, "early") || strings.HasPrefix(p, "release") {
					early = append(early, p)
				}
			}
			want := strings.TrimPrefix(test.want, "lock-linearizability:0 ")
			if got := strings.Join(early, " "); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if p := propertyOf(result, model.EarlyExpiry); !plan.SameKernel && p.Verdict != model.NotApplicable {
				t.Errorf("%s", p.Verdict)
			}
		})
	}
}

func TestUnprotectedGrantsAreNotJudged(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), "1 a acquire h1\n2 a acquire:ok h1 token=1")
	for _, name := range []model.Name{model.EarlyExpiry, model.ReleaseByOwner} {
		if p := propertyOf(result, name); p.Verdict != model.NotApplicable || p.Reason == "" {
			t.Errorf("%+v", p)
		}
	}
}

func TestLockLinearizability(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"granted while another was proven to hold it, checked": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a release h1
			1.5 a release:ok h1 owned=true`, "lock-linearizability:1"},
		"granted while another's client, which does not declare that it looks, says that it held it": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.15 b lease:ok session=sb ttl=2 seen=1.15
			1.2 b acquire h2
			1.3 b acquire:ok h2 token=2 session=sb
			1.4 a release h1
			1.5 a release:ok h1 owned=true`, ""},
		"granted before, read late, checked": {`
			1.0 b acquire h2
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=2
			1.3 b acquire:ok h2 token=1
			1.4 a release h1
			1.5 a release:ok h1 owned=true`, ""},
		"both proven at one moment": {`
			1.0 b acquire h2
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=2
			1.3 b acquire:ok h2 token=1
			1.4 a release h1
			1.5 a release:ok h1 owned=true
			1.6 b release h2
			1.7 b release:ok h2 owned=true`, "lock-linearizability:1"},
		"a release without an answer may have worked": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a release h1
			1.3 b acquire h2
			1.4 b acquire:ok h2 token=2
			1.5 b release h2
			1.6 b release:ok h2 owned=true`, ""},
		"an acquire without an answer takes nothing, checked": {`
			1.0 a acquire h1
			1.1 a acquire:info h1
			1.3 b acquire h2
			1.4 b acquire:ok h2 token=2
			1.5 b release h2
			1.6 b release:ok h2 owned=true`, ""},
		"asked for after its session was gone": {`
			1.0 a lease:ok session=sa ttl=2 seen=1
			1.1 a lease:fail session=sa
			1.2 a acquire h1
			1.3 a acquire:ok h1 token=1 session=sa`, "lock-linearizability:1"},
		"proven after it was said to be gone": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 a lease:fail session=sa
			1.3 a release h1
			1.4 a release:ok h1 owned=true`, ""},
		"one session may be answered with its own record again": {`
			0.9 a lease:ok session=sa ttl=5 seen=0.9
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 a acquire h2
			1.3 a acquire:ok h2 token=1 session=sa
			1.4 a release h2
			1.5 a release:ok h2 owned=true
			1.6 a release h1
			1.7 a release:info h1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			if strings.HasSuffix(name, "checked") {
				plan.Release = history.ReleaseChecked
			}
			result := verdicts(t, plan, test.text, test.want)
			if p := propertyOf(result, model.LockLinearizability); p.ConfirmedBy != "porcupine" {
				t.Errorf("confirmed by %q", p.ConfirmedBy)
			}
		})
	}
}

func TestFailedTriesAsEvidence(t *testing.T) {
	atomic := untokened()
	atomic.TryAtomic = true
	for name, test := range map[string]struct{ text, want string }{
		"held by a core": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a release h1
			1.5 a release:ok h1 owned=true`, ""},
		"held by no client": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1
			1.2 a release h1
			1.3 a release:ok h1 owned=true
			1.4 b acquire h2 try=true
			1.5 b acquire:fail h2 code=busy`, "lock-linearizability:1"},
		"held by an acquire of unknown outcome": {`
			1.0 a acquire h1
			1.1 a acquire:info h1
			1.4 b acquire h2 try=true
			1.5 b acquire:fail h2 code=busy`, ""},
		"asked for too late to explain it": {`
			1.4 b acquire h2 try=true
			1.5 b acquire:fail h2 code=busy
			1.6 a acquire h1
			1.7 a acquire:info h1`, "lock-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, atomic, test.text, test.want) })
	}
}

// sortedByTime orders lines by their first word; tests may then add to a history where it is best read.
func sortedByTime(lines []string) []string {
	var out []string
	for _, l := range lines {
		if len(strings.Fields(l)) == 0 {
			continue
		}
		at := len(out)
		for at > 0 && ns(strings.Fields(out[at-1])[0]) > ns(strings.Fields(l)[0]) {
			at--
		}
		out = append(out[:at], append([]string{l}, out[at:]...)...)
	}
	return out
}
