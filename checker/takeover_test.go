package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// An acquire that says whose record it removed is named only if that record was promised still (J5).
func TestATakeOverOfAGrantThatIsPromised(t *testing.T) {
	const (
		granted = `
			2.00 b acquire h1
			2.01 b lease:ok session=sb ttl=3 seen=2.00
			2.10 b acquire:ok h1 token=2 session=sb seen=2.00`
		takes = `
			3.00 c acquire h2
			3.20 c remove:ok h2 value=sb seen=3.10
			3.40 c acquire:ok h2 token=3 session=sc
			5.90 b exit h1 held=4.90`
		release = `
			0.10 a acquire h0
			0.11 a lease:ok session=sa ttl=1 seen=0.10
			0.20 a acquire:ok h0 token=1 session=sa seen=0.10
			3.00 a release h0
			3.02 a release:ok h0 removed=true seen=3.01`
		later = `
			3.30 d acquire h2
			3.40 d acquire:ok h2 token=3 session=sd
			5.90 b exit h1 held=4.90`
	)
	at := func(seen, read string) string {
		return strings.NewReplacer("3.20 c remove", read+" c remove", "seen=3.10", "seen="+seen, "3.40 c", "6.00 c").Replace(takes)
	}
	kill := strings.ReplaceAll(`
		2.20 nemesis kill:invoke 1 target=n1
		2.21 nemesis kill:ok 1 target=n1
		2.30 nemesis kill:heal 1 target=n1
		2.31 nemesis kill:healed 1 target=n1`, "\t", "")
	for name, test := range map[string]struct {
		text string
		want model.Name
	}{
		"while its lease runs":                    {granted + takes, model.ReleaseByOwner},
		"and nobody is granted it in that time":   {granted + at("3.10", "3.20"), model.ReleaseByOwner},
		"the answer comes when its lease is over": {granted + at("3.10", "5.10"), ""},
		"when its lease is over":                  {granted + at("5.05", "5.10"), ""},
		"sent before the grant was read":          {granted + strings.Replace(at("2.05", "3.20"), "3.00 c acquire", "1.90 c acquire", 1), ""},
		"a later grant of its session was taken over, too": {granted + release + strings.Replace(later, "5.90 b exit h1 held=4.90", "", 1) +
			"7.00 b acquire h4\n7.01 b lease:ok session=sb ttl=1 seen=7.00\n7.10 b acquire:ok h4 token=4 session=sb seen=7.00\n9.00 c acquire h5\n9.20 c remove:ok h5 value=sb seen=9.10\n9.40 c acquire:ok h5 token=5 session=sc", model.ReleaseByOwner},
		"of another session":                               {granted + strings.Replace(takes, "value=sb", "value=sx", 1), model.EarlyExpiry},
		"of its own client, which asked again":             {granted + strings.NewReplacer(" c ", " b ", "session=sc", "session=sb").Replace(takes), ""},
		"it had been released":                             {granted + at("3.10", "3.20") + "\n2.50 b release h1\n2.60 b release:info h1", ""},
		"its session left another record before":           {"0.10 b acquire h0\n0.20 b acquire:ok h0 token=1 session=sb\n1.10 b release h0\n1.20 b release:ok h0 owned=false" + granted + at("3.10", "3.20"), ""},
		"its session gave another back before":             {"0.10 b acquire h0\n0.20 b acquire:ok h0 token=1 session=sb\n1.10 b release h0\n1.20 b release:ok h0 owned=true" + granted + at("3.10", "3.20"), model.ReleaseByOwner},
		"a server was killed: it may have had it twice":    {granted + at("3.10", "3.20") + kill, ""},
		"its own record is there after that":               {granted + at("3.10", "3.20") + "\n4.50 b renew h1\n4.60 b renew:ok h1 owned=true seen=4.50", ""},
		"a release removed something else":                 {granted + takes + release, model.ReleaseByOwner},
		"a release did not remove what was there later":    {granted + later + release + "\n6.00 c acquire h3\n6.20 c remove:ok h3 value=sb seen=6.10", model.EarlyExpiry},
		"the nearest: what is taken over was never there":  {granted + later + release, model.ReleaseByOwner},
		"another was granted it before the request":        {granted + later + "\n3.50 c acquire h3\n3.70 c remove:ok h3 value=sb seen=3.60", model.EarlyExpiry},
		"of the key that it acquires":                      {granted + strings.Replace(takes, "c acquire h2", "c acquire h2 key=other", 1), ""},
		"the wall clock had been set forward by that much": {granted + at("3.10", "3.20") + "\n2.50 harness clock-step from=2.45 by=2.5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			if plan.Release = history.ReleaseChecked; strings.Contains(test.text, "removed=true") {
				plan.Release = history.ReleaseUnchecked
			}
			result, _ := judgeText(t, plan, scenario(test.text))
			if got := serviceVerdicts(result); got != string(test.want) {
				t.Fatalf("violated: %q, want %q", got, test.want)
			}
		})
	}
	t.Run("words", func(t *testing.T) {
		const clock = `
			2.20 nemesis clock:invoke 1 target=c clock=wall
			2.21 nemesis clock:ok 1 target=c clock=wall by=5
			3.30 nemesis clock:heal 1 target=c
			3.31 nemesis clock:healed 1 target=c`
		plan := plainPlan()
		plan.Release = history.ReleaseChecked
		result, _ := judgeText(t, plan, scenario(granted+takes+clock+"\n5.00 c exit h2 held=4.50"))
		f := propertyOf(result, model.ReleaseByOwner).Findings[0]
		const how = "c removed its record while it acquired k, by an answer that named the session sb"
		if want := "b lost k with token 2 by 3.200 s although its lease, as acknowledged, ran until 5.000 s: " + how; f.Summary != want {
			t.Errorf("%s\nwant %s", f.Summary, want)
		}
		want := strings.Replace(how, "its record", "the record of b", 1) + "; it coincides with a clock skew of c (next holder)"
		if f.Cause.Kind != "take-over by another client" || !strings.HasPrefix(f.Cause.Text, want) || !f.Cause.IsRelease() || f.Cause.Fault != 1_000_001 {
			t.Errorf("cause %+v\nwant %s", f.Cause, want)
		}
		if holds := strings.Join(f.Holds, " "); holds != "h2 h1" || !strings.Contains(storyText(f), "the answer to c said that it had removed the record of session sb") {
			t.Errorf("holds %s, story\n%s", holds, storyText(f))
		}
		if other := propertyOf(result, model.MutualExclusion).Findings; len(other) != 1 || !other[0].Cause.Is(f.Cause) {
			t.Errorf("two held it: %+v", other)
		}
	})
}
