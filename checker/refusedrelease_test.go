package checker

import (
	"testing"

	"lockcheck/checker/model"
)

// A release that was certainly never sent gives nothing back, so what its client does afterwards counts as it does of any
// holder: one that is told of its loss tidies up, and the service is not to blame for that.
func TestALossThatIsToldBeforeAReleaseWasAnsweredCounts(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"after a release that was never sent a client that is told of the loss tidies up": {`
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.51 a release:fail h1 code=refused
			1.60 b acquire h2
			2.00 a lost session=sa
			2.50 b acquire:ok h2 token=2 session=sb seen=1.60`, ""},
		"a session that is said to be gone after that, too": {`
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.51 a release:fail h1 code=refused
			2.00 a lost session=sa
			2.10 a lease:fail session=sa`, ""},
		"\"not owned\" to a release on whose way the loss was told may come from the tidying up": {`
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.60 a lost session=sa
			2.30 a release:fail h1 code=not-owned`, ""},
		"\"not owned\" before the loss was told does not": {`
			1.00 a lease:ok session=sa ttl=2 seen=1.00
			1.01 a acquire h1
			1.02 a acquire:ok h1 token=1 session=sa
			1.50 a release h1
			1.59 a release:fail h1 code=not-owned
			1.60 a lost session=sa`, "early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, plainPlan(), test.text, test.want) })
	}
}

// Nor does it excuse a fault that came after it, or make a pause the cause of a loss before the lease's end.
func TestAReleaseThatWasNeverSentEndsNoFaultsPart(t *testing.T) {
	const text = `
		1.00 a lease:ok session=sa ttl=2 seen=1.00
		1.01 a acquire h1
		1.02 a acquire:ok h1 token=1 session=sa
		1.50 a release h1
		1.51 a release:fail h1 code=refused
		1.60 b acquire h2
		2.50 b acquire:ok h2 token=2 session=sb seen=1.60`
	for name, test := range map[string]struct{ text, want string }{
		"a leader killed after it":     {text + fault("1", "kill", "n1", "2.00", "2.20", "role=leader"), "it coincides with a kill of n1 (leader) for 200 ms"},
		"the holder's pause before it": {text + fault("1", "pause", "a", "1.10", "1.40", "role=holder"), "no fault explains it"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), scenario(test.text))
			f := propertyOf(result, model.EarlyExpiry).Findings
			if len(f) != 1 || f[0].Cause.Text != test.want {
				t.Errorf("%d findings: %v, want one, and %q", len(f), f, test.want)
			}
		})
	}
}
