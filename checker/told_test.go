package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A story shows every answer about the grant that it accuses somebody of: a reader who sees them can judge it.
func TestAStoryShowsEveryAnswerAboutTheGrant(t *testing.T) {
	const own = "that it had acted on its own record"
	for name, test := range map[string]struct {
		text, want string // "" is that no line tells of an answer to b
	}{
		"its extension, acknowledged":         {"3.45 b renew h1\n3.50 b renew:ok h1 owned=true", "3.500 s the answer to the renew of b said " + own},
		"its extension, refused":              {"3.45 b renew h1\n3.50 b renew:fail h1 code=not-owned", `3.500 s the answer to the renew of b said "not owned"`},
		"its release":                         {"3.45 b release h1\n3.50 b release:ok h1 owned=true", "3.500 s the answer to the release of b said " + own},
		"its release, which removed a record": {"3.45 b release h1\n3.50 b release:ok h1 removed=true", "3.500 s the answer to the release of b said that it had removed a record"},
		"an extension that was not answered":  {"3.45 b renew h1\n3.50 b renew:info h1 owned=true", ""},
		"an answer that says nothing of it":   {"3.45 b renew h1\n3.50 b renew:ok h1", ""},
	} {
		plan := plainPlan()
		plan.Release = history.ReleaseUnchecked
		result, _ := judgeText(t, plan, scenario(victim+removes+"\n"+test.text))
		p := propertyOf(result, model.ReleaseByOwner)
		if len(p.Findings) != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		story := storyText(p.Findings[0])
		if !strings.Contains(story, test.want) || strings.Contains(story, "the answer to the re") != (test.want != "") {
			t.Errorf("%s: want %q\n%s", name, test.want, story)
		}
	}
}

// Whoever had given the lock back, or never had it, is not said to have waited to be told of its loss.
func TestWhoHadGivenTheLockBackIsNotSaidToLackWord(t *testing.T) {
	const untold = "had not been told that the lock was lost"
	// a is cut off, b is granted the lock at 4.5 when a's lease is over, and a's write lands at 5.0.
	const late = `
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=2.1 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		2.10 a write h1 value=v1
		4.40 b acquire h2
		4.50 b acquire:ok h2 token=2 session=sb
		4.60 b read h2
		4.61 @ read h2
		4.62 b read:ok h2
		5.00 @ write h1`
	// The same, but b is granted it at 3.5, and a's lease still runs.
	early := strings.NewReplacer("4.40", "3.40", "4.50", "3.50", "4.60", "3.60", "4.61", "3.61", "4.62", "3.62").Replace(late)
	cut := fault("1", "partition", "a", "2.40", "5.20", "role=holder")
	for name, test := range map[string]struct{ text, want string }{
		"it had not given it back":  {late, untold},
		"it had, before the loss":   {late + "\n3.00 a release h1\n3.10 a release:info h1", "a had asked to release it 2.00 s before"},
		"it had, before the write":  {late + "\n4.80 a release h1\n4.90 a release:fail h1 code=not-owned", "a had asked to release it 200 ms before"},
		"it did so after the write": {late + "\n5.10 a release h1", untold},
		"its release was not sent":  {late + "\n3.00 a release h1\n3.10 a release:fail h1 code=refused", untold},
		"it was told":               {late + "\n4.80 a lost h1 session=sa held=2.3", "a had been told 200 ms before"},
		"it was told before its lease was over, which protects nothing then": {early + "\n3.20 a lost h1 session=sa held=2.3", "a had been told 1.80 s before"},
	} {
		result, _ := judgeText(t, plainPlan(), scenario(test.text+cut))
		p := propertyOf(result, model.StaleWrite)
		if len(p.Findings) != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		if said := p.Findings[0].Cause.Text; !strings.HasSuffix(said, test.want) || strings.Contains(said, untold) != (test.want == untold) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// Of a holder that was told early, its fault is named beside one of the leader, which may be why; one that began later is not why it lost the lock.
func TestWhoWasToldEarlyHidesNoFaultOfServers(t *testing.T) {
	const lost = `
		1.90 a acquire h1
		1.91 a lease:ok session=sa ttl=2.1 seen=1.90
		2.00 a acquire:ok h1 token=1 session=sa
		2.10 a write h1 value=v1
		3.20 a lost h1 session=sa held=2.3
		3.40 b acquire h2
		3.50 b acquire:ok h2 token=2 session=sb
		3.60 b read h2
		3.61 @ read h2
		3.62 b read:ok h2
		5.00 @ write h1`
	for name, test := range map[string]struct{ faults, want string }{
		"alone":                  {fault("1", "partition", "a", "2.40", "5.20", "role=holder"), "it coincides with a partition of a for"},
		"with one of the leader": {fault("1", "partition", "a", "2.40", "5.20", "role=holder") + fault("2", "kill", "n1", "2.80", "3.10", "role=leader"), "and a kill of n1 (leader)"},
		"after it was told":      {fault("1", "partition", "a", "3.30", "5.20", "role=holder"), "no fault explains it"},
	} {
		result, _ := judgeText(t, plainPlan(), scenario(lost+test.faults))
		p := propertyOf(result, model.StaleWrite)
		if len(p.Findings) != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		if c := p.Findings[0].Cause; !strings.Contains(c.Text, test.want) {
			t.Errorf("%s: %s: %s", name, c.Kind, c.Text)
		}
	}
}

// Nor is a client that never had the lock: its acquire waits on although its session is gone.
func TestWhoNeverHadTheLockIsNotSaidToLackWord(t *testing.T) {
	// Its session began for an earlier grant, which its acquire may be under.
	result, _ := judgeText(t, plainPlan(), scenario(inOrder(`
		1.00 a lease:ok session=sa ttl=2 seen=0.90
		1.10 a acquire h1
		3.60 a lease:fail session=sa
		4.00 harness probe:invoke 1
		4.10 harness probe:ok 1
		50.0 harness phase end`+fault("1", "partition", "a", "2.00", "3.50", "role=waiter"))))
	p := propertyOf(result, model.Liveness)
	if len(p.Findings) != 1 {
		t.Fatalf("%+v", p)
	}
	if c := p.Findings[0].Cause; c.Kind != "partition of holder" || strings.Contains(c.Text, "told") {
		t.Errorf("%s: %s", c.Kind, c.Text)
	}
}

// Who led when a fault came is known by what was observed until then, not by who was seen to lead next.
func TestWhoLedIsKnownWhenTheFaultCame(t *testing.T) {
	// n1 is killed, n2 leads from then on and is paused beside it, for longer.
	kill := fault("1", "kill", "n1", "2.40", "2.60", "role=one")
	bystander := fault("2", "pause", "n2", "2.41", "2.79", "role=one")
	for name, test := range map[string]struct{ leaders, kill, want string }{
		"it led":                            {"\n0.10 harness leader n1\n2.50 harness leader n2", kill, "it coincides with a kill of n1 (one, which led) for 200 ms"},
		"another led":                       {"\n0.10 harness leader n3\n2.50 harness leader n1", kill, "it coincides with a pause of n2 (one) for 380 ms and a kill of n1 (one) for 200 ms"},
		"it was seen to as it was killed":   {"\n2.40 harness leader n1\n2.50 harness leader n2", kill, "it coincides with a kill of n1 (one, which led) for 200 ms"},
		"it had led before":                 {"\n0.10 harness leader n1\n2.30 harness leader n3", kill, "it coincides with a pause of n2 (one) for 380 ms and a kill of n1 (one) for 200 ms"},
		"aimed at the leader, as was asked": {"\n0.10 harness leader n3\n2.50 harness leader n2", strings.ReplaceAll(kill, "role=one", "role=leader"), "it coincides with a kill of n1 (leader) for 200 ms"},
	} {
		result, _ := judgeText(t, plainPlan(), scenario(inOrder(grantedEarly+test.leaders+test.kill+bystander)))
		p := propertyOf(result, model.MutualExclusion)
		if len(p.Findings) != 1 || p.Findings[0].Cause.Text != test.want {
			t.Errorf("%s: %+v", name, p.Findings)
		}
	}
}
