package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

func TestTokenMonotonicity(t *testing.T) {
	inTurn := func(first, second string) string {
		return `
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=` + first + `
			1.2 a release h1
			1.3 a release:ok h1
			1.4 b acquire h2
			1.5 b acquire:ok h2 token=` + second
	}
	for name, test := range map[string]struct{ text, want string }{
		"rising":                             {inTurn("9", "10"), ""},
		"falling":                            {inTurn("10", "9"), "token-monotonicity:1"},
		"larger than any machine's integers": {inTurn("36893488147419103233", "36893488147419103232"), "token-monotonicity:1"},
		"leading zeros mean nothing":         {inTurn("0000000009", "10"), ""},
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
	if p := propertyOf(result, model.TokenMonotonicity); p.Verdict != model.NotApplicable || p.Reason != "a plain lock gives no number" {
		t.Errorf("%+v", p)
	}
	result, _ = judgeText(t, plainPlan(), "1 a acquire h1\n2 a acquire:ok h1")
	if p := propertyOf(result, model.TokenMonotonicity); p.Verdict != model.Inconclusive {
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
	came := func(handled, answered string) string {
		return strings.NewReplacer("h1 %s", strings.TrimSpace("h1 "+handled), ":%s", ":"+answered).Replace(bThenA)
	}
	accepted := came("", "ok h1")
	for name, test := range map[string]struct{ text, want string }{
		"by time": {holds("1", "2") + accepted, "stale-write:1"},
		"by time although the tokens say otherwise": {holds("2", "1") + accepted,
			"token-monotonicity:1 stale-write:1"},
		"rejected":                  {holds("1", "2") + came("rejected", "fail h1 code=rejected"), ""},
		"answer lost, effect there": {holds("1", "2") + came("", "info h1"), "stale-write:1"},
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
			` + accepted, "stale-write:1"},
		"an older holder's write before": {holds("1", "2") + `
			1.40 a write h1 value=v1
			1.41 @ write h1
			1.42 a write:ok h1
			1.50 b read h2
			1.51 @ read h2
			1.52 b read:ok h2`, ""},
		"a greater token of a holder that was certainly older": {`
			0.1 c acquire h0
			0.2 c acquire:ok h0 token=9
			0.3 c read h0
			0.4 @ read h0
			0.5 c read:ok h0
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a write h1 value=v1
			1.3 @ write h1
			1.4 a write:ok h1`, "token-monotonicity:1"},
		"interleaved, and the tokens say who was stale": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 b read h2
			1.4 @ read h2
			1.5 b read:ok h2
			1.6 a write h1 value=v1
			1.7 @ write h1
			1.8 a write:ok h1
			1.9 b write h2 value=v2 base=v1
			2.0 @ write h2
			2.1 b write:ok h2`, "stale-write:1"},
		"by token, where tokens were seen to fall: they prove nothing": {`
			0.1 c acquire h0
			0.2 c acquire:ok h0 token=9
			0.3 c read h0
			0.4 @ read h0
			0.5 c read:ok h0
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			` + accepted, "token-monotonicity:2"},
		"in turn, with tokens that are not ordered although they are declared to be": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 b acquire:ok h2 token=70
			1.2 b write h2 value=v1
			1.3 @ write h2
			1.4 b write:ok h2
			1.5 b release h2
			1.6 b release:ok h2
			1.7 a acquire:ok h1 token=12
			1.8 a write h1 value=v2 base=v1
			1.9 @ write h1
			2.0 a write:ok h1
			2.1 a release h1
			2.2 a release:ok h1
			2.3 b acquire h3
			2.4 b acquire:ok h3 token=71
			2.5 b release h3
			2.6 b release:ok h3
			2.7 a acquire h4
			2.8 a acquire:ok h4 token=13`, "token-monotonicity:1"},
		"interleaved, with tokens that are not ordered: one of the two is stale": {`
			0.1 c acquire h0
			0.2 c acquire:ok h0 token=9
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 b read h2
			1.4 @ read h2
			1.5 b read:ok h2
			1.6 a write h1 value=v1
			1.7 @ write h1
			1.8 a write:ok h1
			1.9 b write h2 value=v2 base=v1
			2.0 @ write h2
			2.1 b write:ok h2`, "token-monotonicity:2 stale-write:1"},
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
		"one that was not acknowledged":   {strings.Replace(chain("v1"), ":%s", ":info h1", 1), ""},
		"built on a write that came late": {strings.Replace(strings.Replace(chain("v2"), "1.6 @ write h1\n", "", 1), ":%s", ":info h1", 1), ""},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}
