package checker

import (
	"strings"
	"testing"
)

// Who frees another's lock was often paused before; it is the release that was wrong all the same, and is named first.
func TestTheCauseOfAFreedLockNamesTheReleaseFirst(t *testing.T) {
	const pause = `
		1.10 nemesis pause:invoke 1 target=a role=holder
		1.11 nemesis pause:ok 1 target=a role=holder
		4.99 nemesis pause:heal 1 target=a role=holder
		5.00 nemesis pause:healed 1 target=a role=holder
		`
	const freed = `
		0.10 a acquire h0
		0.11 a lease:ok session=sa ttl=2 seen=0.10
		0.20 a acquire:ok h0 token=1 session=sa seen=0.10
		1.00 a release h0
		3.40 b acquire h1
		3.41 b lease:ok session=sb ttl=3 seen=3.40
		3.50 b acquire:ok h1 token=2 session=sb seen=3.40
		5.01 a release:ok h0 owned=true
		5.02 c acquire h2
		5.10 c acquire:ok h2 token=3 session=sc
		5.90 b exit h1 held=5.50
		`
	const confessed = `
		0.10 a acquire h0
		0.11 a lease:ok session=sa ttl=1 seen=0.10
		0.20 a acquire:ok h0 token=1 session=sa seen=0.10
		1.50 a lease:fail session=sa
		1.60 a lost h0 session=sa held=1.50
		3.40 b acquire h1
		3.41 b lease:ok session=sb ttl=3 seen=3.40
		3.50 b acquire:ok h1 token=2 session=sb seen=3.40
		3.60 a release h0
		3.70 a release:ok h0 owned=true
		4.00 c acquire h2
		4.10 c acquire:ok h2 token=3 session=sc
		5.90 b exit h1 held=5.50
		`
	const own = `
		0.10 a acquire h0
		0.20 a acquire:ok h0 token=1 session=sa
		0.30 a release h0
		0.40 a release:info h0
		0.50 a.2 acquire h1
		0.51 a.2 lease:ok session=sa ttl=2 seen=0.50
		0.60 a.2 acquire:ok h1 token=2 session=sa seen=0.50
		1.00 b acquire h2
		1.10 b acquire:ok h2 token=3 session=sb
		2.40 a exit h1 held=2.30
		`
	const closed = `
		0.10 b acquire h1
		0.11 b lease:ok session=sb ttl=3 seen=0.10
		0.20 b acquire:ok h1 token=2 session=sb seen=0.10
		0.30 a acquire h0
		1.00 a close
		1.10 c acquire h2
		1.20 c acquire:ok h2 token=3 session=sc
		2.90 b exit h1 held=2.80
		`
	for name, test := range map[string]struct {
		text, kind, cause string
		fault             int64
	}{
		"after a pause in it": {freed + pause, "release by another client", "a's release, begun at 1.000 s, was under way and may have freed it; a was paused (SIGSTOP) for 3.9 s with 990 ms of its lease left, which ran out meanwhile; b was granted k with token 2 before it was over; a had not been told that the lock was lost", 1_000_001},
		"without a fault":     {freed, "release by another client", "a's release, begun at 1.000 s, was under way and may have freed it; no fault explains it", 0},
		"that confesses":      {confessed, "release by another client", "a's release, begun at 3.600 s, freed it: its own hold had been lost before, and it reports having removed a record; no fault explains it", 0},
		"a pause of somebody else": {freed + strings.ReplaceAll(pause, "target=a", "target=c"), "release by another client",
			"a's release, begun at 1.000 s, was under way and may have freed it; it coincides with a pause of c (another client) for 3.9 s", 1_000_001},
		"its own":              {own, "release by the same client", "a's release, begun at 0.300 s, was under way and may have freed it; no fault explains it", 0},
		"the end of a session": {closed, "closing of a session by another client", "a's closing of its session, begun at 1.000 s, was under way and may have freed it; no fault explains it", 0},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), strings.Join(sortedByTime(strings.Split(test.text, "\n")), "\n"))
			p := result.of(ReleaseByOwner)
			if len(p.Findings) != 1 {
				t.Fatalf("%s: %d findings", p.Verdict, len(p.Findings))
			}
			if got, want := p.Findings[0].Cause, (Cause{Kind: test.kind, Text: test.cause, Fault: test.fault}); got != want {
				t.Errorf("cause\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}
