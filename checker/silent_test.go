package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// The smallest histories in which a wait is too long only if a client counts that answered no pings, and the nearest in which it is too long
// without. A lease takes 2 s, and so does a recovery; the bound is 30 s.
func TestSilentClients(t *testing.T) {
	const held = `
		1 a acquire h1
		1 a acquire:ok h1 token=1 session=sa
		2 b acquire h2
		3 a release h1 held=3
		3 a release:ok h1
		44 b acquire:ok h2 token=2
		44 b release h2
		44 b release:ok h2
		`
	const renewed = `
		1 a acquire h1
		1 a acquire:ok h1 token=1 session=sa
		1 a lease:ok session=sa ttl=2 seen=1
		2 a lease:ok session=sa ttl=1 seen=2
		2 b acquire h2
		44 b acquire:ok h2 token=2
		44 b release h2
		44 b release:ok h2
		`
	const stopped = `
		1 a acquire h1
		1 a acquire:ok h1 token=1 session=sa
		1 a lease:ok session=sa ttl=2 seen=1
		2 b acquire h2
		11.9 nemesis pause:invoke 1 target=a
		11.9 nemesis pause:ok 1 target=a
		43.5 b acquire:ok h2 token=2
		43.6 b release h2
		43.7 b release:ok h2
		61 nemesis pause:heal 1 target=a
		61 nemesis pause:healed 1 target=a
		`
	const longLease = "\n1 c lease:ok session=sc ttl=8.5 seen=1\n"
	free := func(text string, silent ...string) string {
		return together(text, strings.Join(silent, "\n"), plainWrites(0, 62)) + "\nfinal"
	}
	const ended = `
		1 b lease:ok session=sb ttl=2 seen=1
		1.1 b acquire h1
		4 b lease:fail session=sb
		`
	const waiting = `
		1 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		2 b acquire h2
		3 a release h1
		3.1 a release:ok h1 owned=true
		4 harness phase heal
		5 harness phase waiting
		5.1 harness probe:invoke 1
		5.2 harness probe:ok 1
		`
	const fresh = `
		1 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		2 harness phase final
		2.1 f1 acquire f1
		3 harness probe:invoke 1
		3.1 harness probe:ok 1
		`
	const cancelled = "\n40 b acquire:fail h2 code=cancelled\nfinal"
	run := turn(1, "a", "h1", "1", "", "1/h1") + dead
	const heal = "\n45 harness phase heal"
	until := func(granted string) string { return strings.ReplaceAll(held, "44 b", granted+" b") }
	try := func(text string) string { return strings.Replace(text, "b acquire h1", "b acquire h1 try=true", 1) }
	jobs, locks := jobsPlan(history.AtLeastOnce), plainPlan()
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want model.Verdict
		why  string
	}{
		"free: its waiter is silent":                     {locks, free(held, "43 b silent from=4"), model.Inconclusive, "clients that waited too long for k were silent, or waited beside a silent one: b did not answer pings from 4.000 s to 43.000 s"},
		"free: its waiter is silent for a while":         {locks, free(held, "6 b silent from=4"), model.Violation, ""},
		"free: its waiter is silent in the midst":        {locks, free(held, "22 b silent from=20"), model.Inconclusive, "b did not answer pings from 20.000 s to 22.000 s"},
		"free: another waits beside the silent one":      {locks, free(held, "2 c acquire h3", "43 b silent from=4"), model.Inconclusive, "b did not answer pings from 4.000 s"},
		"free: another was silent, and had been refused": {locks, free(held, "2 c acquire h3", "3 c acquire:fail h3 code=cancelled", "43 c silent from=4"), model.Violation, ""},
		"free: another is silent, and waits for another": {locks, free(held, "2 c acquire h3 key=other", "43 c silent from=4"), model.Violation, ""},
		"free: a holder that renewed is silent":          {locks, free(renewed, "43 a silent from=2.5"), model.Inconclusive, "a did not answer pings from 2.500 s"},
		"free: a holder that renewed was silent before":  {locks, free(renewed, "4 a silent from=2.5"), model.Violation, ""},
		"free: a silence does not end in its stop":       {locks, free(stopped, "10 a silent from=2"), model.Pass, ""},
		"free: a part has a shorter bound":               {locks, free(held+longLease, "8 b silent from=4"), model.Pass, ""},
		"free: the harness stood still as long":          {locks, free(held, "30.1 harness stall from=4", "30.2 b silent from=4"), model.Pass, ""},
		"free: it stood still for a part of a silence":   {locks, free(held, "10 harness stall from=4", "43 b silent from=4"), model.Inconclusive, "b did not answer pings from 4.000 s to 43.000 s"},
		"free: a stall that is no silence":               {locks, free(until("42"), "11 harness stall from=4", "11.1 b silent from=4"), model.Violation, ""},
		"free: a recovery after its waiter was silent":   {locks, free(until("43.5"), "12 b silent from=4"), model.Inconclusive, "b did not answer pings from 4.000 s to 12.000 s"},
		"free: its waiter was silent before it asked":    {locks, free(until("33.5"), "0.2 b acquire h0", "0.3 b acquire:fail h0 code=cancelled", "1.9 b silent from=0.5"), model.Violation, ""},

		"a fresh session is silent":              {locks, fresh + "39 f1 silent from=3.5\n40 harness phase end", model.Inconclusive, "f1 did not answer pings from 3.500 s to 39.000 s"},
		"a fresh session is silent for a while":  {locks, fresh + "6 f1 silent from=3.5\n" + probed(6, 36, "ok") + "40 harness phase end", model.Violation, ""},
		"a fresh session is silent in the midst": {locks, fresh + inOrder(probed(6, 36, "ok")+"23 f1 silent from=20") + "40 harness phase end", model.Inconclusive, "f1 did not answer pings from 20.000 s to 23.000 s"},
		"a fresh session that was granted is silent": {locks, fresh + `
			3.2 f1 acquire:ok f1 token=2
			3.3 f1 release f1
			3.4 f2 acquire f2
			4 harness probe:invoke 2
			4.1 harness probe:ok 2
			39 f1 silent from=3.35
			39.1 f1 release:ok f1
			39.2 f2 acquire:ok f2 token=3
			40 harness phase end`, model.Inconclusive, "f1 did not answer pings from 3.350 s to 39.000 s"},

		"a waiter whose session is gone is silent":             {locks, ended + "39 b silent from=5\n40 harness phase heal\nfinal", model.Inconclusive, "b did not answer pings from 5.000 s"},
		"a waiter whose session is gone is silent for a while": {locks, ended + "7 b silent from=5\n40 harness phase heal\nfinal", model.Violation, ""},
		"a try whose session is gone is silent":                {locks, try(ended) + "39 b silent from=5\n40 harness phase heal\nfinal", model.Inconclusive, "b did not answer pings from 5.000 s"},
		"a try whose session is gone":                          {locks, try(ended) + "40 harness phase heal\nfinal", model.Violation, ""},

		"an old waiter is silent":              {locks, waiting + "39 b silent from=6" + cancelled, model.Inconclusive, "b did not answer pings from 6.000 s"},
		"an old waiter is silent for a while":  {locks, waiting + "8 b silent from=6\n" + probed(8, 38, "ok") + cancelled, model.Violation, ""},
		"an old waiter is silent in the midst": {locks, waiting + inOrder(probed(8, 38, "ok")+"23 b silent from=20") + cancelled, model.Inconclusive, "b did not answer pings from 20.000 s to 23.000 s"},
		"an old waiter is silent, and another waits": {locks, together(waiting, "4.5 c acquire h3", "39 c acquire:fail h3 code=cancelled", "38 b silent from=6") + cancelled,
			model.Inconclusive, "b did not answer pings from 6.000 s"},
		"an old waiter is silent, and granted": {locks, waiting + "39 b silent from=6\n39 b acquire:ok h2 token=2\n39.1 b release h2\n39.2 b release:ok h2\nfinal", model.Pass, ""},

		"a slot is missed, and its waiter is silent":              {jobs, run + inOrder(probed(2, 40, "ok")+"44 b silent from=3") + heal, model.Inconclusive, "clients that waited too long for k were silent, or waited beside a silent one: b did not answer pings from 3.000 s to 44.000 s"},
		"a slot is missed, and its waiter is silent in the midst": {jobs, run + inOrder(probed(2, 40, "ok")+"23 b silent from=20") + heal, model.Inconclusive, "b did not answer pings from 20.000 s to 23.000 s"},
		"a slot is missed, and its waiter is silent for a while":  {jobs, run + inOrder(probed(2, 40, "ok")+"5 b silent from=3") + heal, model.Violation, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, test.plan, test.text)
			p := propertyOf(result, model.Liveness)
			if test.plan.Jobs() {
				p = propertyOf(result, model.MissedExecution)
			}
			if p.Verdict != test.want || !strings.Contains(p.Reason, test.why) {
				t.Errorf("%s: %q; want %s: %q", p.Verdict, p.Reason, test.want, test.why)
			}
			if free := result.Stats.FreeWanted; strings.Contains(name, "does not end in its stop") && free.Longest.NS > 0 {
				t.Errorf("free: %+v", free)
			}
			for _, w := range witnessesOf(t, test.plan, test.text) {
				if w.Missing != "" {
					t.Errorf("%s has no witness: %s", w.Finding, w.Missing)
				}
			}
		})
	}
}

// The story says when either holder was silent, and not when another client was, or after all that it tells.
func TestAStoryTellsOfSilences(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), `
		0.1 c acquire h3
		0.2 c acquire:fail h3 code=cancelled
		1 a acquire h1
		1.1 a acquire:ok h1 token=1
		2 b acquire h2
		2.1 b acquire:ok h2 token=2
		4.5 b silent from=3
		5 a silent from=3.5
		5 c silent from=3
		5.1 a release h1 held=5
		5.2 a release:ok h1
		5.3 b release h2 held=5.2
		5.4 b release:ok h2
		9 a silent from=7`)
	story := storyText(propertyOf(result, model.MutualExclusion).Findings[0])
	for want, times := range map[string]int{"b did not answer pings for 1.50 s": 1, "a did not answer pings for 1.50 s": 1, "did not answer pings": 2} {
		if strings.Count(story, want) != times {
			t.Errorf("%q is not %d times in\n%s", want, times, story)
		}
	}
}
