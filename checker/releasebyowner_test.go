package checker

import (
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// scenario puts parts of a history into the order of their times.
func scenario(parts ...string) string {
	return strings.Join(sortedByTime(strings.Split(strings.Join(parts, "\n"), "\n")), "\n")
}

// serviceVerdicts are the violated ones of early-expiry and release-by-owner.
func serviceVerdicts(r *model.Result) string {
	var words []string
	for _, p := range r.Properties {
		if (p.Name == model.EarlyExpiry || p.Name == model.ReleaseByOwner) && p.Verdict == model.Violation {
			words = append(words, string(p.Name))
		}
	}
	return strings.Join(words, " ")
}

// A release is named as the culprit only if it is proven to have removed the lock of another (J5).
const (
	// a's own lease is over at 1.1; b is granted the lock until 5.0 at least, and loses it by 3.4.
	victim = `
		0.10 a acquire h0
		0.11 a lease:ok session=sa ttl=1 seen=0.10
		0.20 a acquire:ok h0 token=1 session=sa seen=0.10
		2.00 b acquire h1
		2.01 b lease:ok session=sb ttl=3 seen=2.00
		2.10 b acquire:ok h1 token=2 session=sb seen=2.00
		3.30 c acquire h2
		3.40 c acquire:ok h2 token=3 session=sc
		5.90 b exit h1 held=4.00`
	removes = `
		3.00 a release h0
		3.02 a release:ok h0 owned=true seen=3.01`
	tidies = `
		3.02 a lost h0 session=sa removed=true seen=3.01 held=1.4`
)

func TestReleaseByOwnerNeedsProof(t *testing.T) {
	const serverKill = `
		0.50 nemesis kill:invoke 1 target=n1
		0.51 nemesis kill:ok 1 target=n1
		0.90 nemesis kill:heal 1 target=n1
		0.91 nemesis kill:healed 1 target=n1`
	unchecked, checked := history.ReleaseUnchecked, history.ReleaseChecked
	for name, test := range map[string]struct {
		release history.ReleaseKind
		text    string
		want    model.Name
	}{
		"unchecked, and it says it removed its own":       {unchecked, victim + removes, model.ReleaseByOwner},
		"unchecked, and it says it removed something":     {unchecked, victim + strings.Replace(removes, "owned=true", "removed=true", 1), model.ReleaseByOwner},
		"unchecked, even if a server was killed":          {unchecked, victim + removes + serverKill, model.ReleaseByOwner},
		"undeclared, and the service was not disturbed":   {"", victim + removes, model.ReleaseByOwner},
		"undeclared, and a server was disturbed":          {"", victim + removes + serverKill, model.EarlyExpiry},
		"undeclared, and another client was disturbed":    {"", victim + removes + strings.ReplaceAll(serverKill, "target=n1", "target=c"), model.ReleaseByOwner},
		"undeclared, and the machine's clock was set":     {"", victim + removes + "\n0.60 harness clock-step from=0.55 by=0.001", model.EarlyExpiry},
		"undeclared, and a server was disturbed before":   {"", strings.NewReplacer("0.50", "0.01", "0.51", "0.02", "0.90", "0.03", "0.91", "0.04").Replace(serverKill) + victim + removes, model.ReleaseByOwner},
		"checked: it removes its own record only":         {checked, victim + removes, model.EarlyExpiry},
		"sent before the lost grant was read":             {unchecked, victim + "\n2.05 a release h0\n2.20 a release:ok h0 owned=true", model.EarlyExpiry},
		"asked for before, and deleting after":            {unchecked, victim + "\n2.05 a release h0\n2.20 a release:ok h0 removed=true seen=2.15", model.ReleaseByOwner},
		"asked for once the loss was seen":                {unchecked, victim + strings.NewReplacer("3.00", "3.50", "3.02", "3.52", "3.01", "3.51").Replace(removes), model.EarlyExpiry},
		"its own lease runs, and it had provably lost it": {unchecked, strings.Replace(victim, "ttl=1", "ttl=4", 1) + removes, model.EarlyExpiry + " " + model.ReleaseByOwner},
		"another may have been granted the lock by then":  {unchecked, victim + removes + "\n2.50 d acquire h8", model.EarlyExpiry},
		"another may have been, and was told after it":    {unchecked, strings.Replace(victim, "3.30 c acquire h2", "2.50 c acquire h2", 1) + removes, model.EarlyExpiry},
		"its own second request has no answer":            {unchecked, victim + removes + "\n2.50 a.2 acquire h8\n2.60 a.2 acquire:info h8", model.EarlyExpiry},
		"the other died, and its record is over":          {unchecked, victim + removes + "\n0.30 d acquire h8\n0.40 d exit", model.ReleaseByOwner},
		"the other died when it was cut off":              {unchecked, victim + removes + "\n0.30 d acquire h8\n0.40 d exit" + fault("7", "partition", "d", "0.35", "0.45", ""), model.ReleaseByOwner},
		"cut off, and its packets may have come late":     {unchecked, victim + removes + "\n0.30 d acquire h8\n0.40 d exit" + fault("7", "partition", "d", "0.20", "1.00", ""), model.EarlyExpiry},
		"cut off until just before it died":               {unchecked, victim + removes + "\n0.30 d acquire h8\n1.30 d exit" + fault("7", "partition", "d", "0.31", "1.29", ""), model.EarlyExpiry},
		"until it may have been sent again for the first": {unchecked, victim + removes + "\n0.30 d acquire h8\n0.40 d exit" + fault("7", "partition", "d", "0.20", "0.55", ""), model.EarlyExpiry},
		"before all that may have been sent again":        {unchecked, victim + removes + "\n0.30 d acquire h8\n0.40 d exit" + fault("7", "partition", "d", "0.20", "0.50", ""), model.ReleaseByOwner},
		"several servers, which were not disturbed":       {unchecked, victim + removes, model.ReleaseByOwner},
		"several servers, disturbed long before":          {unchecked, victim + removes + serverKill, model.EarlyExpiry},
		"several servers, b cut off from the resource":    {unchecked, victim + removes + cutOff("resource"), model.ReleaseByOwner},
		"several servers, b cut off from one of them":     {unchecked, victim + removes + cutOff("n1,_resource"), model.EarlyExpiry},
		"undeclared, and several servers":                 {"", victim + removes, model.EarlyExpiry},
		"it had lost its own lease, and was told so":      {unchecked, strings.Replace(victim, "ttl=1", "ttl=4", 1) + "\n1.50 a lease:fail session=sa\n1.60 a lost h0 session=sa held=1.4" + removes, model.EarlyExpiry + " " + model.ReleaseByOwner},
		"it does not say that it removed anything":        {unchecked, victim + strings.Replace(removes, "owned=true", "", 1), model.EarlyExpiry},
		"it says that it was not the owner":               {unchecked, victim + strings.Replace(removes, "owned=true", "owned=false", 1), model.EarlyExpiry},
		"its outcome is unknown":                          {unchecked, victim + strings.Replace(removes, "release:ok h0 owned=true", "release:info h0", 1), model.EarlyExpiry},
		"it removed another lock":                         {unchecked, strings.Replace(victim, "acquire h0", "acquire h0 key=other", 1) + removes, model.EarlyExpiry},
		"a release after a grant that had no answer here": {unchecked, victim + "\n0.30 d acquire h9\n0.40 d acquire:info h9\n3.00 d.2 release h9\n3.02 d.2 release:ok h9 owned=true", model.EarlyExpiry},
		"its library tidied up, unasked, before it told":  {unchecked, victim + tidies, model.ReleaseByOwner},
		"undeclared, and it tidied up":                    {"", victim + tidies, model.ReleaseByOwner},
		"undeclared, disturbed, and it tidied up":         {"", victim + tidies + serverKill, model.EarlyExpiry},
		"checked, and it tidied up":                       {checked, victim + tidies, model.EarlyExpiry},
		"it tidied up before the lost grant was read":     {unchecked, victim + strings.Replace(tidies, "seen=3.01", "seen=2.05", 1), model.EarlyExpiry},
		"it tidied up once the loss was seen":             {unchecked, victim + strings.NewReplacer("3.02", "3.52", "3.01", "3.51").Replace(tidies), model.EarlyExpiry},
		"it tidied up what it had provably lost":          {unchecked, strings.Replace(victim, "ttl=1", "ttl=4", 1) + tidies, model.ReleaseByOwner},
		"it told of a loss, and of nothing that it did":   {unchecked, victim + strings.Replace(tidies, "removed=true", "", 1), model.EarlyExpiry},
		"a release had been asked for before":             {unchecked, victim + tidies + "\n2.90 a release h0\n3.60 a release:info h0", model.EarlyExpiry},
		"the next holder gave its own lock back": {unchecked, `
			1.00 a acquire h1
			1.01 a lease:ok session=sa ttl=2 seen=1.00
			1.02 a acquire:ok h1 token=1 session=sa seen=1.00
			1.00 b acquire h2
			1.03 b lease:ok session=sb ttl=2 seen=1.03
			1.051 b acquire:ok h2 token=2 session=sb seen=1.03
			1.2 a release h1
			1.2002 b release h2
			1.2004 a release:fail h1 code=not-owned
			1.2005 b release:ok h2 owned=true`, model.EarlyExpiry},
		"an acquire that waited and was cancelled, while a clock jumped": {"", `
			0.00 a acquire h0
			0.50 b acquire h1
			0.51 b lease:ok session=sb ttl=5 seen=0.50
			0.60 b acquire:ok h1 token=1 session=sb seen=0.50
			1.00 nemesis clock:invoke 1 target=n1 role=one clock=wall
			1.01 nemesis clock:ok 1 target=n1 role=one clock=wall by=90
			1.10 c acquire h2
			1.20 c acquire:ok h2 token=2 session=sc
			8.00 a acquire:fail h0 code=cancelled
			8.10 b exit h1 held=1.3`, model.EarlyExpiry},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release = test.release
			if strings.Contains(name, "several servers") {
				plan.Nodes = 3
			}
			result, _ := judgeText(t, plan, scenario(test.text))
			if got := serviceVerdicts(result); got != string(test.want) {
				t.Errorf("violated: %q, want %s", got, test.want)
			}
		})
	}
}

// A release that removed a record is not named where that may have been its own: where its grant may have been made after
// the one that was lost. Nothing that leaves its own grant unprotected shows that its record was gone.
func TestAReleaseOfAGrantThatMayBeTheNewerIsNotNamed(t *testing.T) {
	// b is granted the lock until 5.0 at least; a clock jumps, and d, who has waited since 1.9, is granted it. d gives its own
	// record back, and c is the next.
	const jumped = `
		2.00 b acquire h1
		2.01 b lease:ok session=sb ttl=3 seen=2.00
		2.10 b acquire:ok h1 session=sb seen=2.00
		2.20 nemesis clock:invoke 1 target=n1 role=one clock=wall
		2.21 nemesis clock:ok 1 target=n1 role=one clock=wall by=90
		1.90 d acquire h2
		2.30 d acquire:ok h2 session=sd
		2.50 d release h2
		2.60 d release:ok h2 owned=true
		2.75 c acquire h3
		2.80 c acquire:ok h3 session=sc seen=2.75
		5.90 b exit h1 held=4.00`
	const lease = "\n2.29 d lease:ok session=sd ttl=3 seen=1.90"
	for name, test := range map[string]struct {
		text string
		want model.Name
	}{
		"it reports no lease":                                               {jumped, model.EarlyExpiry},
		"its lease runs":                                                    {jumped + lease, model.EarlyExpiry},
		"it had asked to release it before":                                 {jumped + lease + "\n2.40 d release h2\n2.45 d release:info h2", model.EarlyExpiry},
		"its loss was told":                                                 {jumped + lease + "\n2.40 d lost session=sd", model.EarlyExpiry},
		"an earlier release of it has no answer":                            {jumped + lease + "\n0.10 d acquire h0\n0.20 d acquire:ok h0 session=sd\n0.30 d release h0\n0.40 d release:info h0", model.EarlyExpiry},
		"it is the same client, under a new lease":                          {strings.NewReplacer(" d ", " b.2 ", "1.90", "2.25").Replace(jumped), model.EarlyExpiry},
		"it is certainly the older, and the clock may have brought it back": {strings.NewReplacer("1.90 d", "0.10 d", "2.30 d", "0.20 d").Replace(jumped), model.EarlyExpiry},
	} {
		t.Run(name, func(t *testing.T) {
			plan := untokened()
			plan.Release = history.ReleaseUnchecked
			result, _ := judgeText(t, plan, scenario(test.text))
			if got := serviceVerdicts(result); got != string(test.want) {
				t.Errorf("violated: %q, want %s", got, test.want)
			}
		})
	}
}

// One answer does not prove both that a release removed another's record and that its own was there until then: a client that
// deletes any record that is there says "owned" of all of them, and the service did nothing wrong.
func TestAnUncheckedReleaseProvesNothingOfItsOwnRecord(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 b acquire h2
		1.3 b acquire:ok h2 token=2 session=sb
		1.4 a %s h1
		1.5 a %s:ok h1 owned=true`
	for name, test := range map[string]struct {
		kind    history.ReleaseKind
		f, want string
	}{
		"unchecked":                            {history.ReleaseUnchecked, "release", ""},
		"an extension looks no better":         {history.ReleaseUnchecked, "renew", ""},
		"checked":                              {history.ReleaseChecked, "release", "lock-linearizability:1"},
		"not declared: it may not have looked": {"", "release", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release = test.kind
			verdicts(t, plan, strings.ReplaceAll(text, "%s", test.f), test.want)
		})
	}
	// Beside the lost grant nothing is found of the one that was over.
	plan := plainPlan()
	plan.Release = history.ReleaseUnchecked
	result, _ := judgeText(t, plan, scenario(victim+removes))
	if got := propertyOf(result, model.LockLinearizability); got.Count != 1 || got.Findings[0].Holds[0] != "h1" {
		t.Errorf("lock-linearizability: %d findings: %v", got.Count, got.Findings)
	}
}

// What is said of the releasing hold's own grant is what made it unprotected: its lease may have had time left.
func TestARemovalSaysWhyItsOwnGrantWasUnprotected(t *testing.T) {
	long := strings.Replace(victim, "ttl=1", "ttl=9", 1)
	for name, test := range map[string]struct{ text, want string }{
		"its lease was over":             {victim + removes, "its own lease was over"},
		"it had asked to release before": {long + removes + "\n1.0 a release h0\n1.1 a release:info h0", "it had already asked to release its own"},
		"it was told of its loss":        {long + removes + "\n1.60 a lost h0 session=sa held=1.4", "it had provably lost its own"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release = history.ReleaseUnchecked
			result, _ := judgeText(t, plan, scenario(test.text))
			findings := propertyOf(result, model.ReleaseByOwner).Findings
			if len(findings) != 1 || !strings.HasSuffix(findings[0].Summary, "removed a record at a time when "+test.want) {
				t.Fatalf("%d findings: %v", len(findings), findings)
			}
			if !strings.Contains(fmt.Sprint(findings[0].Story), "deletes the record of k, when "+test.want) {
				t.Errorf("the story does not say so: %v", findings[0].Story)
			}
		})
	}
}

func TestWhatALibraryTidiesUpIsToldAsThat(t *testing.T) {
	plan := plainPlan()
	plan.Release = history.ReleaseUnchecked
	result, _ := judgeText(t, plan, scenario(victim+tidies))
	findings := propertyOf(result, model.ReleaseByOwner).Findings
	if len(findings) != 1 || !strings.Contains(findings[0].Summary, "what the library of a tidied up, unasked, removed it") {
		t.Fatalf("%d findings: %v", len(findings), findings)
	}
	if story := fmt.Sprint(findings[0].Story); !strings.Contains(story, "a was told of its loss, and its library had been answered that a record was removed") {
		t.Errorf("the story does not say so: %s", story)
	}
}

// As far as a recording goes on: a grant with an older token may be read later than the loss. What its
// library tidied up before that proves nothing.
func TestALossMayTurnOutToBeOfAGrantThatIsReadLater(t *testing.T) {
	plan := plainPlan()
	plan.Release = history.ReleaseUnchecked
	whole := scenario(strings.Replace(strings.Replace(victim, "0.20 a acquire:ok", "6.60 a acquire:ok", 1), "5.90 b exit h1 held=4.00", "3.50 b release h1 held=3.49\n3.55 b release:ok h1 owned=false seen=3.50", 1),
		"3.60 c release h2\n3.70 c release:ok h2 owned=true seen=3.60\n6.40 d acquire h8\n6.50 d acquire h9\n6.70 a lost h0 session=sa removed=true seen=3.01")
	result, _ := judgeText(t, plan, whole)
	so, _, _ := strings.Cut(whole, "6.60 a acquire:ok")
	events, requests := parse(t, so)
	part, _, err := Check(again(plan, events[:len(events)-1], requests), Options{SoFar: true, Unconfirmed: true})
	if err != nil {
		t.Fatal(err)
	}
	if so, end := serviceVerdicts(part), serviceVerdicts(result); so != string(model.EarlyExpiry) || end != so {
		t.Errorf("it is %q so far, and %q in the end", so, end)
	}
}

// Its witness is judged like the whole run: the same property, in the same words, by the line with which the loss was told.
func TestWhatALibraryTidiesUpIsWitnessed(t *testing.T) {
	plan := plainPlan()
	plan.Release = history.ReleaseUnchecked
	result, _ := judgeText(t, plan, scenario(victim+tidies))
	want := propertyOf(result, model.ReleaseByOwner).Findings[0]
	shown := false
	for _, w := range witnessesOf(t, plan, scenario(victim+tidies)) {
		if w.Finding != want.ID {
			continue
		}
		if w.Missing != "" {
			t.Fatalf("no witness: %s", w.Missing)
		}
		got, _, err := Check(throughFiles(t, &w), Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := propertyOf(got, model.ReleaseByOwner).Findings
		if len(found) != 1 || found[0].Summary != want.Summary || storyText(found[0]) != storyText(want) || serviceVerdicts(got) != string(model.ReleaseByOwner) {
			t.Errorf("its witness comes to %s: %v, want %s", serviceVerdicts(got), found, want.Summary)
		}
		if !strings.Contains(outlineOf(&w), "lost") {
			t.Errorf("the loss is not in it:\n%s", outlineOf(&w))
		}
		shown = true
	}
	if !shown {
		t.Error("there is no witness")
	}
}

// cutOff keeps b from others for a while.
func cutOff(others string) string {
	return strings.ReplaceAll(`
		2.30 nemesis partition:invoke 1 target=b role=holder
		2.31 nemesis partition:ok 1 target=b role=holder detail=packets_from_and_to_OTHERS
		2.60 nemesis partition:heal 1 target=b role=holder
		2.61 nemesis partition:healed 1 target=b role=holder`, "OTHERS", others)
}

// The release is what was wrong, and is named first, then the fault that led to it.
func TestTheCauseOfAFreedLockNamesTheReleaseFirst(t *testing.T) {
	const pause = `
		0.30 nemesis pause:invoke 1 target=a role=holder
		0.31 nemesis pause:ok 1 target=a role=holder
		2.80 nemesis pause:heal 1 target=a role=holder
		2.81 nemesis pause:healed 1 target=a role=holder`
	const proof = "the release of a removed the grant of b: a does not look whose record it deletes, and its release removed a record at a time when its own lease was over; "
	for name, test := range map[string]struct {
		text, kind, cause string
		fault             int64
	}{
		"after a pause in it": {victim + removes + pause, "release by another client", proof +
			"a was paused (SIGSTOP) for 2.49 s; its acknowledged lease had 790 ms left and expired meanwhile; b got k with token 2 before that ended; a had not been told that the lock was lost", 1_000_001},
		"without a fault":                             {victim + removes, "release by another client", proof + "no fault explains it", 0},
		"a pause of a bystander":                      {victim + removes + strings.ReplaceAll(pause, "target=a role=holder", "target=c") + "\n0.20 c acquire hc\n0.25 c acquire:fail hc", "release by another client", proof + "it coincides with a pause of c (another client) for 2.49 s", 1_000_001},
		"a pause of a client that never asked for it": {victim + removes + strings.ReplaceAll(pause, "target=a role=holder", "target=c"), "release by another client", proof + "no fault explains it", 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release = history.ReleaseUnchecked
			result, _ := judgeText(t, plan, scenario(test.text))
			p := propertyOf(result, model.ReleaseByOwner)
			if len(p.Findings) != 1 {
				t.Fatalf("%s: %d findings", p.Verdict, len(p.Findings))
			}
			f := p.Findings[0]
			if want := (model.Cause{Kind: test.kind, Text: test.cause, Fault: test.fault}); !f.Cause.Is(want) {
				t.Errorf("cause\n%+v\nwant\n%+v", f.Cause, want)
			}
			if f.Cause.Unexplained() || !f.Cause.IsRelease() {
				t.Errorf("%s is no release", f.Cause.Kind)
			}
			if strings.Join(f.Holds, " ") != "h0 h1 h2" {
				t.Errorf("holds %v", f.Holds)
			}
			// What else is found of the grant that was removed has the same cause.
			if others := propertyOf(result, model.LockLinearizability).Findings; len(others) != 1 || !others[0].Cause.Is(f.Cause) {
				t.Errorf("lock-linearizability: %+v", others)
			}
		})
	}
}
