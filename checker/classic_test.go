package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// The classic: a pause longer than the lease.
const classic = `
0.10 c2 acquire h1
0.11 c2 lease:ok session=s2 ttl=2 seen=0.10
0.12 c2 acquire:ok h1 token=33 session=s2 seen=0.11
0.13 c2 read h1
0.14 @ read h1 token=33
0.15 c2 read:ok h1 held=0.13
0.16 c2 write h1 value=v1
0.20 nemesis pause:invoke 1 target=c2 role=holder
0.21 nemesis pause:ok 1 target=c2 role=holder
0.30 c4 acquire h2
0.31 c4 lease:ok session=s4 ttl=2 seen=0.30
2.60 c4 acquire:ok h2 token=34 session=s4 seen=0.31
2.61 c4 read h2
2.62 @ read h2 token=34
2.63 c4 read:ok h2 held=2.61
2.64 c4 write h2 value=v2
2.70 @ write h2 token=34
2.71 c4 write:ok h2 held=2.64
3.40 nemesis pause:heal 1 target=c2 role=holder
3.41 nemesis pause:healed 1 target=c2 role=holder
3.42 @ write h1 token=33 %s
3.43 c2 write:%s
3.44 c2 lost h1 session=s2 held=3.40
3.50 c4 release h2
3.51 c4 release:ok h2 owned=true held=3.45
final
`

func TestTheClassic(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	result, judged := judgeText(t, plainPlan(), text)
	if got, want := namesViolated(result), "mutual-exclusion:1 stale-write:1 lost-update:1 resource-linearizability:1"; got != want {
		t.Errorf("violated: %s; want %s", got, want)
	}
	if result.Verdict != model.Violation || len(judged.Windows) != 1 {
		t.Errorf("verdict %s, windows %d", result.Verdict, len(judged.Windows))
	}
	f := propertyOf(result, model.LostUpdate).Findings[0]
	var story strings.Builder
	for _, l := range f.Story {
		story.WriteString(l.Text + "\n")
	}
	want := `c2 acquired k with token 33
c2 read k with token 33: found the initial value
c2 paused (SIGSTOP) while it worked, believing that it held k, 1.89 s of its lease left, as acknowledged
the acknowledged lease of c2 expired
c4 acquired k with token 34
c4 read k with token 34: found the initial value
c4 wrote v2 with token 34, built on the initial value: accepted
c2 resumed after 3.19 s
c2 wrote v1 with token 33, built on the initial value: accepted: c4's update v2 is lost
`
	if story.String() != want {
		t.Errorf("story:\n%swant:\n%s", story.String(), want)
	}
	if f.Cause.Kind != "pause of holder" || f.Cause.Fault != 1_000_001 ||
		!strings.HasPrefix(f.Cause.Text, "c2 was paused (SIGSTOP) for 3.19 s; its acknowledged lease had 1.89 s left and expired meanwhile; c4 got k with token 34 before that ended; c2 had not been told") {
		t.Errorf("cause %+v", f.Cause)
	}
}

func TestTheClassicFenced(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1)
	result, _ := judgeText(t, fencedPlan(), text)
	if got, want := namesViolated(result), "mutual-exclusion:1"; got != want || propertyOf(result, model.MutualExclusion).Verdict != model.Masked {
		t.Errorf("violated: %s; want %s, masked", got, want)
	}
	if result.Verdict != model.Pass || result.Stats.Rejected != 1 || result.Stats.OutlivedLeases != 1 {
		t.Errorf("verdict %s %s, stats %+v", result.Verdict, result.Reason, result.Stats)
	}
}
