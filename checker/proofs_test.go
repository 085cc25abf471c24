package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// That tokens order grants is an inference. Where an answer of the service contradicts it, no order fits both; whose fault that is is said
// only where the order is proven without tokens.
func TestTokensAgainstOwnership(t *testing.T) {
	// b asked first, was paused before it drew its token, and reads 2 after a was granted the lock with 1; a's own record is there still.
	const text = `
		1.00 b acquire h1
		4.00 a acquire h2
		4.01 a lease:ok session=sa ttl=2 seen=4.00
		4.02 a acquire:ok h2 token=1 session=sa seen=4.00
		4.10 b acquire:ok h1 token=2 session=sb seen=1.00
		4.20 a release h2
		4.30 a release:ok h2 owned=true`
	kill := fault("1", "kill", "n1", "0.50", "0.60", "")
	extended := strings.NewReplacer("NS", "4.05", "DONE", "4.06").Replace("\nNS a renew h2\nDONE a renew:ok h2 owned=true")
	extendedAfter := strings.NewReplacer("4.05", "4.11", "4.06", "4.115").Replace(extended)
	disturbed := fault("1", "kill", "n1", "4.12", "4.15", "")
	for name, test := range map[string]struct {
		change     func(*history.Plan)
		text, want string
		early      model.Verdict
	}{
		"proven without tokens":                                        {nil, text, "lock-linearizability:1 token-monotonicity:1", model.Inconclusive},
		"several servers, disturbed":                                   {func(p *history.Plan) { p.Nodes = 3 }, kill + text, "lock-linearizability:1", model.Inconclusive},
		"one server, disturbed then":                                   {nil, text + fault("1", "kill", "n1", "4.12", "4.15", ""), "lock-linearizability:1", model.Inconclusive},
		"a client that may not look":                                   {func(p *history.Plan) { p.Release = "" }, text, "", model.Inconclusive}, // it may be of b's record
		"disturbed after an answer to what was sent before b was read": {nil, text + extended + disturbed, "lock-linearizability:1", model.Inconclusive},
		"disturbed after an answer to what was sent after it":          {nil, text + extendedAfter + disturbed, "lock-linearizability:1 token-monotonicity:1", model.Inconclusive},
		"its session has another":                                      {nil, text + "\n0.10 a acquire h0\n0.20 a acquire:ok h0 token=0 session=sa\n0.30 a release h0\n0.40 a release:ok h0 owned=true", "lock-linearizability:1", model.Inconclusive},
		"no answer of the service":                                     {nil, strings.Replace(text, "release:ok h2 owned=true", "release:info h2", 1), "early-expiry:1", model.Violation},
		"answered before it was read":                                  {nil, strings.NewReplacer("4.20", "4.05", "4.30", "4.06").Replace(text), "", model.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release = history.ReleaseChecked
			if test.change != nil {
				test.change(&plan)
			}
			result := verdicts(t, plan, scenario(test.text), test.want)
			if p := propertyOf(result, model.EarlyExpiry); p.Verdict != test.early {
				t.Errorf("early-expiry is %s: %s", p.Verdict, p.Reason)
			}
			if p := propertyOf(result, model.LockLinearizability); strings.Contains(test.want, "lock") {
				said, proven := p.Findings[0].Summary, strings.Contains(test.want, "token")
				if !strings.Contains(said, "either b has the older grant and the greater token, or the service granted it to both") ||
					strings.Contains(said, "(the former is proven)") != proven {
					t.Error(said)
				}
			}
		})
	}
}

// What the resource rejects of a holder that provably holds is harm that wrong tokens did, and is told.
func TestARejectedWriteOfAProvenHolderIsToldAsHarm(t *testing.T) {
	const text = `
		1.00 b acquire h1
		4.00 a acquire h2
		4.02 a acquire:ok h2 token=1 session=sa seen=4.00
		4.10 b acquire:ok h1 token=2 session=sb seen=1.00
		4.12 b read h1
		4.13 @ read h1 token=2
		4.14 b read:ok h1
		4.30 a renew h2
		4.40 a renew:ok h2 owned=true`
	const write = `
		WHEN0 a write h2 value=v
		WHEN1 @ write h2 OUTCOME
		WHEN2 a write:ANSWER`
	for name, test := range map[string]struct {
		when, outcome, answer string
		told                  bool
	}{
		"rejected while it is proven to hold": {"4.2", "rejected token=1 mark=2", "fail h2 code=rejected", true},
		"rejected after that":                 {"4.5", "rejected token=1 mark=2", "fail h2 code=rejected", false},
		"held back while it is proven to":     {"", "", "fail h2 code=guard", false},
	} {
		said := strings.NewReplacer("WHEN", test.when, "OUTCOME", test.outcome, "ANSWER", test.answer).Replace(write)
		if test.when == "" {
			said = "\n4.20 a write h2 value=v\n4.22 a write:" + test.answer
		}
		plan := fencedPlan()
		plan.Release = history.ReleaseChecked
		result, _ := judgeText(t, plan, scenario(text+said))
		for _, of := range []model.Name{model.LockLinearizability, model.TokenMonotonicity} {
			p := propertyOf(result, of)
			if len(p.Findings) != 1 || strings.HasSuffix(p.Findings[0].Summary, "; the resource rejected the write of a, which held it") != test.told {
				t.Errorf("%s, %s: %+v", name, of, p.Findings)
			}
		}
	}
}

// Protection ends where no acknowledged lease runs; what is acknowledged after that may be another's record.
func TestProtectionIsAUnionOfIntervals(t *testing.T) {
	const grant = `
		1.00 a acquire h1
		1.01 a lease:ok session=sa ttl=2 seen=1.00
		1.02 a acquire:ok h1 token=1 session=sa seen=1.00
		9.00 a exit h1 held=8.0`
	const next = `
		3.10 b acquire h2
		3.20 b acquire:ok h2 token=2 session=sb seen=3.10`
	const again = `
		4.0 a lease:ok session=sa ttl=2 seen=3.9
		4.2 c acquire h3
		4.3 c acquire:ok h3 token=3 session=sc`
	for name, test := range map[string]struct{ text, want string }{
		"extended after the lease, and after the next grant":    {grant + next + "\n4.0 a lease:ok session=sa ttl=2 seen=3.9", ""},
		"extended after the lease, and another is granted then": {grant + next + "\n4.0 a lease:ok session=sa ttl=2 seen=3.9\n4.2 c acquire h3\n4.3 c acquire:ok h3 token=3 session=sc", ""},
		"the next grant of its session is extended, and its own was gone": {grant + `
			3.1 a release h1
			3.2 a release:ok h1 owned=false
			3.3 a acquire h3
			3.4 a lease:ok session=sa ttl=2 seen=3.35
			3.45 a acquire:ok h3 token=2 session=sa`, ""},
		"extended late, and another is granted then":              {grant + again, "lock-linearizability:1 early-expiry:1"},
		"the same, of clients that do not declare that they look": {grant + again, ""},
		"extended in time": {grant + next + "\n2.0 a lease:ok session=sa ttl=2 seen=1.9", "lock-linearizability:1 early-expiry:1"},
		"asked for in time, and acknowledged after it":     {grant + next + "\n3.05 a lease:ok session=sa ttl=2 seen=2.9", "lock-linearizability:1 early-expiry:1"},
		"late, and proven to have been its own record":     {grant + "\n3.02 a renew h1\n3.08 a renew:ok h1 owned=true seen=3.02\n3.06 a lease:ok session=sa ttl=2 seen=3.02" + next, "lock-linearizability:1 early-expiry:1"},
		"a lease that is acknowledged after its grant":     {strings.Replace(grant, "1.01 a lease", "1.03 a lease", 1) + strings.NewReplacer("3.10", "2.10", "3.20", "2.20").Replace(next), "lock-linearizability:1 early-expiry:1"},
		"an extension after a proven loss extends nothing": {grant + strings.NewReplacer("3.10", "1.10", "3.20", "1.20").Replace(next) + "\n2.0 a lease:ok session=sa ttl=2 seen=1.9\n3.3 c acquire h3\n3.4 c acquire:ok h3 token=3 session=sc", "lock-linearizability:1 early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := checkedPlan()
			if strings.Contains(name, "do not declare") {
				plan.Release = ""
			}
			verdicts(t, plan, scenario(test.text), test.want)
		})
	}
}

// A library that may give its lock back before it tells of the loss keeps its flag meanwhile. From its request on nothing is promised.
func TestALockThatItsLibraryGaveBackIsNotPromised(t *testing.T) {
	const grant = `
		1.00 a acquire h1
		1.01 a lease:ok session=sa ttl=4 seen=1.00
		1.02 a acquire:ok h1 token=1 session=sa seen=1.00`
	const next = `
		1.90 b acquire h2
		2.10 b acquire:ok h2 token=2 session=sb seen=1.95`
	for name, test := range map[string]struct{ text, want string }{
		"it says since when":            {grant + next + "\n2.40 a lost h1 session=sa seen=1.50 held=2.30", ""},
		"it gave it back after that":    {grant + next + "\n2.40 a lost h1 session=sa seen=2.20 held=2.30", "lock-linearizability:1 early-expiry:1"},
		"it tells first":                {grant + next + "\n2.40 a lost h1 session=sa held=2.30", "lock-linearizability:1 early-expiry:1"},
		"it is not said whose it was":   {grant + next + "\n2.40 a lost h1 session=sa seen=1.50 removed=true held=2.30", ""},
		"it does not say since when":    {grant + next + "\n2.40 a lost h1 session=sa removed=true held=2.30", ""},
		"it last confirmed it before":   {grant + next + "\n2.40 a lost h1 session=sa held=1.50", ""},
		"the service says that it went": {grant + "\n1.80 a lease:fail session=sa\n2.00 a lost h1 session=sa seen=1.50 held=1.90", ""},
		"that before it was given back": {grant + "\n1.80 a lease:fail session=sa\n2.00 a lost h1 session=sa seen=1.85 held=1.90", "lock-linearizability:1 early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, checkedPlan(), scenario(test.text), test.want) })
	}
}

// A client that does not look whose record it extends or deletes may call it its own although it is the next holder's.
func TestOwnedProvesNothingWhereAnotherMayHaveHadTheRecord(t *testing.T) {
	const text = `
		1.0 a acquire h1
		4.0 b acquire h2
		5.0 a lease:ok session=sa ttl=2.5 seen=3.0
		5.0 a acquire:ok h1 session=sa seen=3.0
		6.0 b lease:ok session=sb ttl=2.5 seen=4.0
		6.0 b acquire:ok h2 session=sb
		7.0 a renew h1
		8.0 a renew:ok h1 owned=true`
	alone := strings.Replace(text, "6.0 b acquire:ok h2 session=sb", "6.0 b acquire:fail h2 code=cancelled", 1) + `
		9.0 a exit h1 held=7.0`
	for kind, want := range map[history.ReleaseKind]string{history.ReleaseChecked: "lock-linearizability:1", history.ReleaseUnchecked: "", "": ""} {
		plan := untokened()
		plan.Release = kind
		verdicts(t, plan, scenario(text), want)
		_, m := judgeText(t, plan, scenario(alone))
		if a := m.Holds[0]; a.ProvenNS != ns("7.0") {
			t.Errorf("%q: a is proven to have held it until %s, where no other can have had it", kind, history.Moment(a.ProvenNS))
		}
	}
	// The record of a client that died is gone a time to live (2 s) and the grace (1 s) later: what a says after that is of its own.
	late := strings.NewReplacer("7.0 a", "12.0 a", "8.0 a", "13.0 a").Replace(text)
	for died, want := range map[string]string{"8.9": "lock-linearizability:1", "9.1": ""} {
		plan := untokened()
		plan.GraceMS = 1000
		verdicts(t, plan, scenario(late, died+" b exit h2 held=6.4"), want)
	}
}

// After a proven loss nothing that happens to a record is about the lost grant, unless the answer is a checked one.
func TestOwnedAfterAProvenLossProvesNothing(t *testing.T) {
	// b's record is gone before a's request is sent, so it is none that a's answer may speak of.
	const text = `
		1.00 a acquire h1
		1.10 a acquire:ok h1 session=sa
		ASKED b acquire h2
		1.30 b acquire:ok h2 session=sb
		1.40 b release h2
		1.50 b release:ok h2
		1.60 a renew h1
		1.70 a renew:ok h1 owned=true`
	for name, test := range map[string]struct {
		asked  string
		kind   history.ReleaseKind
		proven string
		want   string
	}{
		"b asked after a was read":                 {"1.20", "", "0", ""},
		"the same, and a's answer is checked":      {"1.20", history.ReleaseChecked, "1.60", "lock-linearizability:1"},
		"b asked before a was read: no loss":       {"1.05", "", "1.60", ""},
		"b asked when a was read: proves no order": {"1.10", "", "1.60", ""},
	} {
		plan := untokened()
		plan.Release = test.kind
		text := strings.Replace(text, "ASKED", test.asked, 1)
		result := verdicts(t, plan, scenario(text), test.want)
		_, m := judgeText(t, plan, scenario(text))
		if a := m.Holds[0]; a.ProvenNS != ns(test.proven) {
			t.Errorf("%s: a is proven to have held it until %s: %+v", name, history.Moment(a.ProvenNS), result.Verdict)
		}
	}
}

// After a proven loss a release is not about the lost grant: what it removed was the next holder's.
func TestAReleaseAfterAProvenLossRemovesAnothers(t *testing.T) {
	const text = `
		1.00 b acquire h1
		1.01 b lease:ok session=sb ttl=4 seen=1.00
		1.02 b acquire:ok h1 session=sb seen=1.00
		1.10 c acquire h2
		1.11 c lease:ok session=sc ttl=4 seen=1.10
		1.12 c acquire:ok h2 session=sc seen=1.10
		1.20 b release h1
		1.30 b release:ok h1 removed=true seen=1.20
		1.40 d acquire h3
		1.50 d acquire:ok h3 session=sd
		4.00 c exit h2 held=3.0`
	for kind, want := range map[history.ReleaseKind]model.Name{
		history.ReleaseUnchecked: model.EarlyExpiry + " " + model.ReleaseByOwner, // the service lost b's grant, and b's release removed c's
		history.ReleaseChecked:   model.EarlyExpiry,
	} {
		plan := untokened()
		plan.Release = kind
		result, _ := judgeText(t, plan, scenario(text))
		if got := serviceVerdicts(result); got != string(want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// Two grants that were asked for at once exclude each other, and which of them the service had given away is not known. A release that may have
// removed either is named there, too, so that no headline names the service alone.
func TestAReleaseThatMayBeWhyTwoGrantsExcludeEachOther(t *testing.T) {
	plan := untokened()
	plan.Release = history.ReleaseUnchecked
	const text = `
		0.10 a acquire h0
		0.11 a lease:ok session=sa ttl=1 seen=0.10
		0.20 a acquire:ok h0 session=sa seen=0.10
		2.00 b acquire h1
		2.01 b lease:ok session=sb ttl=3 seen=2.00
		2.05 c acquire h2
		2.10 b acquire:ok h1 session=sb seen=2.00
		2.11 c lease:ok session=sc ttl=3 seen=2.06
		2.30 c acquire:ok h2 session=sc seen=2.06
		5.90 b exit h1 held=4.00`
	for released, want := range map[string]string{
		"": model.Unexplained.Kind,
		"\n2.03 a release h0\n2.06 a release:ok h0 removed=true": model.MayBeRelease,
		"\n1.50 a release h0\n1.60 a release:ok h0 removed=true": model.Unexplained.Kind, // answered before either was asked for
	} {
		result, _ := judgeText(t, plan, scenario(text+released))
		found := propertyOf(result, model.LockLinearizability).Findings
		if len(found) != 1 || found[0].Cause.Kind != want {
			t.Errorf("%q: %+v; want %s", released, found, want)
		}
	}
}

// Where something else than the lost grant may have been removed, the release is named as what may be why, and no more.
func TestAReleaseThatMayBeWhyIsSaidToBeThat(t *testing.T) {
	plan := plainPlan()
	plan.Release = history.ReleaseUnchecked
	for name, text := range map[string]string{
		"another may have had a record":           victim + removes + "\n2.50 d acquire h8",
		"on its way when the lost grant was read": victim + "\n2.05 a release h0\n2.20 a release:ok h0 removed=true",
		"answered before the lost grant was read": victim + "\n2.05 a release h0\n2.08 a release:ok h0 removed=true",
		"its own record may have been removed": victim + `
			1.20 e acquire he
			1.21 e lease:ok session=se ttl=3 seen=1.20
			1.30 e acquire:ok he token=5 session=se seen=1.20
			1.50 a release h0
			1.60 a release:ok h0 removed=true
			2.05 e release he
			2.20 e release:ok he removed=true`,
		"sent before the lost grant was asked for": victim + "\n1.90 a release h0\n2.08 a release:ok h0 removed=true",
	} {
		result, _ := judgeText(t, plan, scenario(text))
		f := propertyOf(result, model.EarlyExpiry).Findings[0]
		want := "the unchecked release of a may be why"
		if strings.HasPrefix(name, "its own") {
			want = "the unchecked release of e may be why"
		}
		if !strings.HasSuffix(f.Summary, want) || f.Cause.Text != want || f.Cause.IsRelease() || f.Cause.Unexplained() {
			t.Errorf("%s: %s: %+v", name, f.Summary, f.Cause)
		}
	}
	for name, text := range map[string]string{
		"answered before the lost grant was asked for": victim + "\n1.50 a release h0\n1.60 a release:ok h0 removed=true",
		"sent when its own lease ran":                  strings.Replace(victim, "ttl=1", "ttl=4", 1) + "\n1.50 a release h0\n2.20 a release:ok h0 removed=true",
	} {
		result, _ := judgeText(t, plan, scenario(text))
		if f := propertyOf(result, model.EarlyExpiry).Findings[0]; strings.Contains(f.Summary, "may be why") {
			t.Errorf("%s: %s", name, f.Summary)
		}
	}
}
