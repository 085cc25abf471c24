package checker

import (
	"testing"

	"lockcheck/checker/history"
)

// Histories on which the checker and a second opinion once differed, made small; the second opinion was right.
func TestHistoriesOnWhichOpinionsDiffered(t *testing.T) {
	atomic, checked := untokened(), untokened()
	checked.Release = history.ReleaseChecked
	atomic.TryAtomic = true
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want string
	}{
		// The release removed the grant of b, so the service had it when that was sent: at the very stamp of its grant.
		"held at the moment it was read": {checked, `
			0.70 b acquire h4
			0.79 a acquire h5
			0.80 a lease:ok session=s5 ttl=0.5 seen=0.80
			0.80 a acquire:ok h5 session=s5 seen=0.80
			1.05 b acquire:ok h4
			1.05 b release h4
			1.15 b release:ok h4 owned=true`, "lock-linearizability:1"},
		// Its second hold was answered to be gone: what has the token afterwards is another record.
		"a token of a record that was seen to be gone under its second hold": {plainPlan(), `
			1.00 a acquire h1
			1.10 a acquire:ok h1 token=10 session=sa
			1.20 a release h1
			1.30 a release:info h1
			1.40 a.2 acquire h2
			1.50 a.2 acquire:ok h2 token=10 session=sa
			1.60 a.2 release h2
			1.70 a.2 release:fail h2 code=not-owned
			1.80 a.2 acquire h3
			1.90 a.2 acquire:ok h3 token=10 session=sa`, "token-monotonicity:1"},
		// The one that asked first was served last; the lock was to be had all the same.
		"not dead while a client gets it": {untokened(), `
			1 harness phase final
			2 harness probe:invoke 1
			2 harness probe:ok 1
			2 f1 acquire h1
			3 f2 acquire h2
			4 f2 acquire:ok h2
			5 f2 release h2
			5 f2 release:ok h2
			40 f1 acquire:ok h1
			40 harness probe:invoke 2
			40 harness probe:ok 2`, ""},
		// A request that was given up is over when that is answered, though it was sent at the same stamp.
		"given up at the moment it was sent": {atomic, `
			1.00 a acquire h1
			1.20 a acquire:fail h1 code=cancelled seen=1.20
			1.30 b acquire h2 try=true
			1.40 b acquire:fail h2 code=busy seen=1.30`, "lock-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, test.plan, test.text, test.want) })
	}
}
