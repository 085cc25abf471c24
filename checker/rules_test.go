package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
)

func untokened() history.Plan {
	p := plainPlan()
	p.Tokens, p.TokensReason = history.TokensNone, "a plain lock gives no number"
	return p
}

// verdicts runs a history and compares what is violated.
func verdicts(t *testing.T, plan history.Plan, text, want string) *Result {
	t.Helper()
	result, _ := judgeText(t, plan, text)
	if got := result.violated(); got != want {
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
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, test.plan, test.text, test.want) })
	}
}

func TestOverlapInsideBothValiditiesIsMarked(t *testing.T) {
	text := `
		1.0 a acquire h1
		1.1 a acquire:ok h1 valid=3
		1.2 b acquire h2
		1.3 b acquire:ok h2 valid=%s
		1.5 a lost h1 held=1.4
		1.5 b lost h2 held=1.4`
	for valid, want := range map[string]bool{"3.2": true, "1.2": false} {
		result := verdicts(t, untokened(), strings.ReplaceAll(text, "%s", valid), "mutual-exclusion:1")
		if got := result.of(MutualExclusion).Findings[0].Unavoidable; got != want {
			t.Errorf("valid to %s: unavoidable %v", valid, got)
		}
	}
}

func TestMutualExclusion(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"holds that touch do not overlap": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a lost h1 held=1.3
			1.5 b lost h2 held=1.4`, ""},
		"a hold that was never confirmed is not counted": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1
			1.5 b exit h2 held=1.4`, ""},
		"never later than the release": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.2 a release h1
			1.3 b acquire:ok h2 token=2
			1.4 a release:ok h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"never later than the asking to close": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2
			1.2 a close
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"a loss told before the grant voids it": {`
			1.0 a acquire h1
			1.05 a lost session=s1
			1.1 a acquire:ok h1 token=1 session=s1
			1.1 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"one client twice is its own affair": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.1 a.2 acquire h2
			1.3 a.2 acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 a exit h2 held=1.4`, ""},
		"different locks": {`
			1.0 a acquire h1 key=x
			1.1 a acquire:ok h1 token=1
			1.1 b acquire h2 key=y
			1.3 b acquire:ok h2 token=2
			1.4 a exit h1 held=1.35
			1.5 b exit h2 held=1.4`, ""},
		"three at once are three pairs": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.0 c acquire h3
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 c acquire:ok h3 token=3
			1.5 a exit h1 held=1.4
			1.5 b exit h2 held=1.4
			1.5 c exit h3 held=1.4`, "mutual-exclusion:3"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}

func TestTokenMonotonicity(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"rising": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=9
			1.2 a release h1
			1.3 a release:ok h1
			1.4 b acquire h2
			1.5 b acquire:ok h2 token=10`, ""},
		"falling": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=10
			1.2 a release h1
			1.3 a release:ok h1
			1.4 b acquire h2
			1.5 b acquire:ok h2 token=9`, "token-monotonicity:1"},
		"larger than any machine's integers": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=36893488147419103233
			1.2 a release h1
			1.3 a release:ok h1
			1.4 b acquire h2
			1.5 b acquire:ok h2 token=36893488147419103232`, "token-monotonicity:1"},
		"leading zeros mean nothing": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=0000000009
			1.2 a release h1
			1.3 a release:ok h1
			1.4 b acquire h2
			1.5 b acquire:ok h2 token=10`, ""},
		"queued before the other was granted, sent after": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=10
			1.2 a release h1
			1.3 a release:ok h1
			1.5 b acquire:ok h2 token=9 seen=1.2`, "token-monotonicity:1"},
		"equal stamps prove no order": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=10
			1.1 b acquire h2
			1.2 a release h1
			1.3 a release:ok h1
			1.5 b acquire:ok h2 token=9`, ""},
		"shared by two clients": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=7
			1.2 a release h1
			1.3 a release:ok h1
			1.5 b acquire:ok h2 token=07`, "token-monotonicity:1"},
		"the same session's record again, after a release of unknown outcome": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=7 session=s
			1.2 a release h1
			1.3 a release:info h1
			1.4 a.2 acquire h2
			1.5 a.2 acquire:ok h2 token=7 session=s`, ""},
		"the same session's token again, after it was seen to be released": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=7 session=s
			1.2 a release h1
			1.3 a release:ok h1 owned=true
			1.4 a acquire h2
			1.5 a acquire:ok h2 token=7 session=s`, "token-monotonicity:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}

func TestNoTokensIsNotAPass(t *testing.T) {
	result, _ := judgeText(t, untokened(), "1 a acquire h1\n2 a acquire:ok h1")
	if p := result.of(TokenMonotonicity); p.Verdict != NotApplicable || p.Reason != "a plain lock gives no number" {
		t.Errorf("%+v", p)
	}
	result, _ = judgeText(t, plainPlan(), "1 a acquire h1\n2 a acquire:ok h1")
	if p := result.of(TokenMonotonicity); p.Verdict != Inconclusive {
		t.Errorf("%+v", p)
	}
}

// twoHolds are grants of a and b in this order, a's lost without its knowing.
const twoHolds = `
	1.0 a acquire h1
	1.1 a acquire:ok h1 token=%s
	1.2 b acquire h2
	1.3 b acquire:ok h2 token=%s
	`

func TestStaleWrite(t *testing.T) {
	holds := func(a, b string) string { return strings.Replace(strings.Replace(twoHolds, "%s", a, 1), "%s", b, 1) }
	const bThenA = `
		1.40 b read h2
		1.41 @ read h2
		1.42 b read:ok h2
		1.50 a write h1 value=v1
		1.51 @ write h1 %s
		1.52 a write:%s`
	for name, test := range map[string]struct{ text, want string }{
		"by time": {holds("1", "2") + strings.NewReplacer("h1 %s", "h1", ":%s", ":ok h1").Replace(bThenA), "stale-write:1"},
		"by time although the tokens say otherwise": {holds("2", "1") + strings.NewReplacer("h1 %s", "h1", ":%s", ":ok h1").Replace(bThenA),
			"token-monotonicity:1 stale-write:1"},
		"rejected":                  {holds("1", "2") + strings.NewReplacer("h1 %s", "h1 rejected", ":%s", ":fail h1 code=rejected").Replace(bThenA), ""},
		"answer lost, effect there": {holds("1", "2") + strings.NewReplacer("h1 %s", "h1", ":%s", ":info h1").Replace(bThenA), "stale-write:1"},
		"the newer holder had only been rejected": {holds("1", "2") + `
			1.40 b read h2
			1.41 @ read h2 rejected
			1.42 b read:fail h2 code=rejected
			1.50 a write h1 value=v1
			1.51 @ write h1
			1.52 a write:ok h1`, ""},
		"by token, where time says nothing": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			` + strings.NewReplacer("h1 %s", "h1", ":%s", ":ok h1").Replace(bThenA), "stale-write:1"},
		"an older holder's write before": {holds("1", "2") + `
			1.40 a write h1 value=v1
			1.41 @ write h1
			1.42 a write:ok h1
			1.50 b read h2
			1.51 @ read h2
			1.52 b read:ok h2`, ""},
		"before another holder, too, than the one with the greatest token": {`
			0.1 c acquire h0
			0.2 c acquire:ok h0 token=9
			0.3 c read h0
			0.4 @ read h0
			0.5 c read:ok h0
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			` + strings.NewReplacer("h1 %s", "h1", ":%s", ":ok h1").Replace(bThenA), "token-monotonicity:2 stale-write:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}

func TestLostUpdate(t *testing.T) {
	chain := func(last string) string {
		return `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 a write h1 value=v1
		1.3 @ write h1
		1.4 a write:ok h1
		1.5 a write h1 value=v2 base=v1
		1.6 @ write h1
		1.7 a write:%s
		1.8 a write h1 value=v3 base=` + last + `
		1.9 @ write h1
		2.0 a write:ok h1`
	}
	for name, test := range map[string]struct{ text, want string }{
		"a chain":                         {strings.Replace(chain("v2"), ":%s", ":ok h1", 1), ""},
		"the last but one":                {strings.Replace(chain("v1"), ":%s", ":ok h1", 1), "lost-update:1"},
		"all of them":                     {strings.Replace(chain(""), ":%s", ":ok h1", 1), "lost-update:2"},
		"one that nobody was promised":    {strings.Replace(chain("v1"), ":%s", ":info h1", 1), ""},
		"built on a write that came late": {strings.Replace(strings.Replace(chain("v2"), "1.6 @ write h1\n", "", 1), ":%s", ":info h1", 1), ""},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}

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
		"after its own release, whatever came of it": {grant + `
			1.5 b acquire h2
			1.6 a release h1
			2.5 b acquire:ok h2 token=2 session=sb
			2.6 a release:info h1`, ""},
		"after the closing of its session": {grant + `
			1.5 b acquire h2
			1.6 a close
			2.5 b acquire:ok h2 token=2 session=sb
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
			3.5 a exit h1 held=3.0`, "release-by-owner:1"},
		"its own stale release removed the new grant": {grant + `
			1.1 a release h1
			1.2 a release:info h1
			1.3 a.2 acquire h2
			1.4 a.2 acquire:ok h2 token=2 session=sa
			1.5 b acquire h3
			1.6 b acquire:ok h3 token=3 session=sb
			2.9 a exit h2 held=2.8`, "release-by-owner:1"},
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
			for _, p := range strings.Fields(result.violated()) {
				if strings.HasPrefix(p, "early") || strings.HasPrefix(p, "release") {
					early = append(early, p)
				}
			}
			want := strings.TrimPrefix(test.want, "lock-linearizability:0 ")
			if got := strings.Join(early, " "); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if p := result.of(EarlyExpiry); !plan.SameKernel && p.Verdict != NotApplicable {
				t.Errorf("%s", p.Verdict)
			}
		})
	}
}

func TestUnprotectedGrantsAreNotJudged(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), "1 a acquire h1\n2 a acquire:ok h1 token=1")
	for _, name := range []Name{EarlyExpiry, ReleaseByOwner} {
		if p := result.of(name); p.Verdict != NotApplicable || p.Reason == "" {
			t.Errorf("%+v", p)
		}
	}
}

func TestLockLinearizability(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"granted while another was proven to hold it": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 a release h1
			1.5 a release:ok h1 owned=true`, "lock-linearizability:1"},
		"granted before, read late": {`
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
		"a release that nobody answered may have worked": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a release h1
			1.3 b acquire h2
			1.4 b acquire:ok h2 token=2
			1.5 b release h2
			1.6 b release:ok h2 owned=true`, ""},
		"an acquire that nobody answered takes nothing": {`
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
			1.4 a release:ok h1 owned=true`, "lock-linearizability:1"},
		"one session may be answered with its own record again": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 a acquire h2
			1.3 a acquire:ok h2 token=1 session=sa
			1.4 a release h2
			1.5 a release:ok h2 owned=true
			1.6 a release h1
			1.7 a release:fail h1 code=not-owned`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := verdicts(t, plainPlan(), test.text, test.want)
			if p := result.of(LockLinearizability); p.ConfirmedBy != "porcupine" {
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
		"held by nobody": {`
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
