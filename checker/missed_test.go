package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// dead is a lock whose holder died after slot 1 was run; b waits for it from slot 2 on. The load lasts until the phase heal.
const dead = `
	1.50 a acquire h2
	1.52 a acquire:ok h2 token=2
	1.60 a exit h2
	2.00 b acquire h3
	`

// probed makes plain writes to the service every 5 s.
func probed(from, to int, kind string) (text string) {
	for at := from; at <= to; at += 5 {
		text += fmt.Sprintf("%d.8 harness probe:invoke %d\n%d.9 harness probe:%s %d\n", at, at, at, kind, at)
	}
	return text
}

// idlingAs is a client that is granted the lock every second, reads which slot was run last, and gives it back; idling is one that is
// answered at once.
func idlingAs(who string, from, to int, release func(at int) string) (text string) {
	for at := from; at < to; at++ {
		text += strings.Join(strings.Split(turn(float64(at), who, fmt.Sprint("i", at), fmt.Sprint(at+10), "", ""), "\n")[:5], "\n") + "\n" +
			strings.ReplaceAll(strings.ReplaceAll(release(at), "AT", fmt.Sprint(at)), "WHO", who)
		if at%5 == 0 {
			text += fmt.Sprintf("%d.96 harness probe:invoke %d\n%d.97 harness probe:ok %d\n", at, at, at, at)
		}
	}
	return text
}

const gives = "AT.93 WHO release iAT\nAT.95 WHO release:ok iAT owned=true\n"

func idling(from, to int) string {
	return idlingAs("c", from, to, func(int) string { return gives })
}

func TestMissedExecution(t *testing.T) {
	run := turn(1, "a", "h1", "1", "", "1/h1")
	granted := func(at float64) string {
		late := strings.Replace(turn(at, "b", "h3", "3", "1/h1", "2/h3"), fmt.Sprintf("%.3f b acquire h3\n", at+.01), "", 1)
		return late
	}
	const giveUnheard = "AT.92 WHO release iAT\nAT.93 WHO release:info iAT\n"
	unheard := strings.Replace(dead, "1.60 a exit h2", "1.6 a release h2\n1.7 a release:info h2", 1) // a's release has no answer
	const another = "1.82 c acquire i1\n1.84 c acquire:ok i1 token=3\n1.86 c release i1\n1.88 c release:ok i1 owned=true\n"
	const third = "42 b acquire:ok h3 token=4\n45 harness phase heal"
	late := "42 b acquire:ok h3 token=3\n45 harness phase heal"
	inVain := func(code, end string) string { // a's job takes 38 s, and its record is not made
		return strings.Replace(dead, "1.60 a exit h2", "1.6 a write h2 value=2/h2 base=1/h1 work=38", 1) + probed(2, 32, "ok") + "39.6 a write:" + code + "\n" + end
	}
	withheld := func(int) string {
		return "AT.921 WHO write iAT value=2/iAT base=1/h1 work=5\nAT.922 WHO write:fail iAT code=guard\n" + gives
	}
	failed := strings.Replace(dead, "1.60 a exit h2", "1.6 a release h2\n1.7 a release:fail h2 code=refused", 1)
	without := strings.Replace(dead, "1.60 a exit h2", "", 1)
	unclear := map[string]model.Verdict{
		"a fault lasts": model.NotApplicable, "the machine stood still": model.NotApplicable, "it is too early to say": model.NotApplicable, "after the load no client runs anything": model.NotApplicable, "the load is shorter than the bound": model.NotApplicable,
		"no client asks": model.Inconclusive, "a client asks for a part of the time": model.Inconclusive, "a holder works that long": model.Inconclusive,
		"the service takes no writes": model.Inconclusive, "nothing is known of the service": model.Inconclusive, "the service takes writes since 20 s": model.Inconclusive,
		"a client that lives may have it: of its release": model.Inconclusive, "a client that lives may have it: of its acquire": model.Inconclusive,
		"kept until its client ends": model.Inconclusive, "kept until its loss is told": model.Inconclusive, "kept until its lease ends": model.Inconclusive,
		"kept until a second release": model.Inconclusive, "kept until its client asks no more": model.Inconclusive, "kept by a request that is not answered": model.Inconclusive,
		"a holder works that long, and ends": model.Inconclusive, "a holder works that long, and is told of its loss": model.Inconclusive,
		"kept until another is granted it": model.Inconclusive, "two that wait, and one between who dies with the lock": model.Inconclusive,
		"kept after a refused release, until one without an answer": model.Inconclusive, "kept after a refused release, until a second": model.Inconclusive,
		"kept after a refused release, until after the load": model.Inconclusive, "kept after a release that failed, until a second": model.Inconclusive,
		"kept until its client asks once more, whose lock may count":  model.Inconclusive,
		"the same, and a later answer claims it":                      model.Inconclusive,
		"a holder works that long, is told of its loss, and releases": model.Inconclusive, "a moment of doubt, and no client asks": model.Inconclusive,
	}
	why := map[string]string{ // of those that are inconclusive
		"a client that lives may have it: of its release":  "a may have kept the lock since 1.520 s (h2): what came of its release is not known",
		"a client that lives may have it: of its acquire":  "a may have kept the lock since 1.500 s (h2): what came of its request is not known",
		"kept until its client ends":                       "a may have kept the lock since 1.520 s (h2): what came of its release is not known",
		"kept until a second release":                      "a may have kept the lock since 1.520 s (h2): what came of its release is not known",
		"kept until its client asks no more":               "a may have kept the lock since 1.520 s (h2): what came of its release is not known",
		"kept by a request that is not answered":           "a may have kept the lock since 1.500 s (h2): what came of its request is not known",
		"a holder works that long, and ends":               "a may have kept the lock since 1.520 s (h2): it is not known to have given it back before 40.000 s",
		"kept until another is granted it":                 "a may have kept the lock since 1.520 s (h2): what came of its release is not known",
		"kept after a refused release, until a second":     "a may have kept the lock since 1.520 s (h2): its release failed",
		"kept after a release that failed, until a second": "a may have kept the lock since 1.520 s (h2): its release failed",
		"a moment of doubt, and no client asks":            "clients did not ask for the lock all that time",
		"a holder works that long":                         "a may have kept the lock since 1.520 s (h2): it gave it back neither then nor later",
		"a client asks for a part of the time":             "clients did not ask for the lock all that time",
		"the service takes no writes":                      "plain writes to the service were not seen to succeed all that time",
		"a fault lasts":                                    "the load lasted 45.0 s, 30.0 s of it undisturbed",
	}
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"no client is granted the lock of the dead":                   {run + dead + probed(2, 40, "ok") + "45 harness phase heal", "missed-execution:1"},
		"it was granted after all, too late":                          {run + dead + probed(2, 37, "ok") + granted(38) + "45 harness phase heal", "missed-execution:1"},
		"a slot that is caught up in time":                            {run + dead + probed(2, 22, "ok") + granted(25) + probed(27, 37, "ok") + "45 harness phase heal", ""},
		"it is too early to say":                                      {run + dead + probed(2, 22, "ok") + "31 harness phase heal", ""},
		"after the load no client runs anything":                      {run + dead + probed(2, 22, "ok") + "30 harness phase heal\n" + probed(32, 47, "ok"), ""},
		"clients are granted the lock and run nothing":                {run + idling(2, 40) + "45 harness phase heal", "missed-execution:1"},
		"the load is shorter than the bound":                          {run + dead + probed(2, 22, "ok") + "29 harness phase heal", ""},
		"no client asks":                                              {run + probed(2, 40, "ok") + "45 harness phase heal", ""},
		"a client asks for a part of the time":                        {run + strings.Replace(dead, "2.00 b", "1.99 c", 1) + probed(2, 12, "ok") + "15 c acquire:fail h3 code=cancelled\n" + probed(16, 26, "ok") + "30 b acquire h4\n" + probed(31, 41, "ok") + "46 harness phase heal", ""},
		"a fault lasts":                                               {run + dead + "3 nemesis pause:invoke 1 target=n1\n3 nemesis pause:ok 1 target=n1\n" + probed(3, 13, "ok") + "18 nemesis pause:heal 1 target=n1\n18 nemesis pause:healed 1 target=n1\n" + probed(18, 38, "ok") + "45 harness phase heal", ""},
		"the machine stood still":                                     {run + dead + probed(2, 12, "ok") + "33 harness stall from=15\n" + probed(34, 39, "ok") + "45 harness phase heal", ""},
		"the service takes no writes":                                 {run + dead + probed(2, 40, "info") + "45 harness phase heal", ""},
		"nothing is known of the service":                             {run + dead + "45 harness phase heal", ""},
		"the service takes writes since 20 s":                         {run + dead + probed(2, 17, "info") + probed(22, 42, "ok") + "45 harness phase heal", ""},
		"a client that lives may have it: of its release":             {run + unheard + probed(2, 40, "ok") + "45 harness phase heal", ""},
		"a client that lives may have it: of its acquire":             {run + strings.NewReplacer("acquire:ok h2 token=2", "acquire:info h2", "1.60 a exit h2", "").Replace(dead) + probed(2, 40, "ok") + "45 harness phase heal", ""},
		"a holder works that long":                                    {run + without + probed(2, 40, "ok") + "45 harness phase heal", ""},
		"a holder works that long, and ends":                          {run + without + probed(2, 37, "ok") + "40 a exit h2\n" + late, ""},
		"a holder works that long, and is told of its loss":           {run + without + probed(2, 37, "ok") + "40 a lost h2\n" + late, ""},
		"kept until its client ends":                                  {run + unheard + probed(2, 37, "ok") + "40 a exit h2\n" + late, ""},
		"kept until its loss is told":                                 {run + unheard + probed(2, 32, "ok") + "35 a lost h2\n36 harness probe:invoke 36\n36 harness probe:ok 36\n40 a exit h2\n" + late, ""},
		"kept until its lease ends":                                   {run + unheard + probed(2, 32, "ok") + "35 a lease:fail h2\n36 harness probe:invoke 36\n36 harness probe:ok 36\n40 a exit h2\n" + late, ""},
		"kept until a second release":                                 {run + unheard + probed(2, 27, "ok") + "30 a.2 release h2\n35 a.2 release:ok h2 owned=true\n36 harness probe:invoke 36\n36 harness probe:ok 36\n" + late, ""},
		"kept until its client asks no more":                          {run + strings.Replace(unheard, "1.7 a release:info h2", "", 1) + probed(2, 37, "ok") + "40 a release:info h2\n40 a exit h2\n" + late, ""},
		"kept by a request that is not answered":                      {run + strings.Replace(without, "1.52 a acquire:ok h2 token=2", "", 1) + probed(38, 38, "ok") + "40 a acquire:info h2\n" + late, ""},
		"kept until another is granted it":                            {run + unheard + probed(2, 27, "ok") + idling(30, 31) + probed(32, 37, "ok") + late, ""},
		"two that wait, and one between who dies with the lock":       {run + dead + probed(2, 17, "ok") + "20 c acquire i1\n21 c acquire:ok i1 token=3\n25 c exit i1\n" + probed(27, 42, "ok") + "45 harness phase heal", ""},
		"a holder works that long, is told of its loss, and releases": {run + without + probed(2, 37, "ok") + "40 a lost h2\n40.1 a release h2\n40.2 a release:fail h2 code=not-owned\n" + late, ""},
		"kept after a refused release, until one without an answer":   {run + failed + probed(2, 37, "ok") + "40 a.2 release h2\n40.1 a.2 release:info h2\n" + late, ""},
		"kept after a refused release, until a second":                {run + failed + probed(2, 37, "ok") + "40 a.2 release h2\n40.1 a.2 release:ok h2 owned=true\n" + late, ""},
		"kept after a refused release, until after the load":          {run + failed + probed(2, 42, "ok") + "45 harness phase heal\n46 a.2 release h2\n46.1 a.2 release:ok h2 owned=true\n47 b acquire:ok h3 token=3", ""},
		"kept after a release that failed, until a second":            {run + strings.Replace(failed, " code=refused", "", 1) + probed(2, 37, "ok") + "40 a.2 release h2\n40.1 a.2 release:ok h2\n" + late, ""},
		"a moment of doubt, and no client asks":                       {run + strings.Replace(unheard, "2.00 b acquire h3", "2.10 a exit h2", 1) + probed(3, 40, "ok") + "45 harness phase heal", ""},
		"kept until its client asks once more, whose lock may count":  {run + inOrder(unheard+"1.80 a.2 acquire h4\n1.82 a.2 acquire:ok h4 token=3\n1.84 a.2 release h4\n1.86 a.2 release:ok h4 owned=true\n"+probed(2, 37, "ok")+strings.Replace(late, "token=3", "token=4", 1)), ""},
		"kept until its loss is proven by another's grant":            {run + inOrder(unheard+another+probed(2, 37, "ok")+third), "missed-execution:1 liveness:1"},
		"the same, and a later answer claims it":                      {run + inOrder(unheard+another+probed(2, 37, "ok")+"40 a.2 release h2\n40.1 a.2 release:ok h2 owned=true\n"+third), ""},
		"granted 40 times after a release without an answer":          {run + unheard + idling(2, 42) + late, "missed-execution:1"},
		"the same, and its client ends":                               {run + unheard + idling(2, 40) + "40 a exit h2\n" + late, "missed-execution:1"},
		"granted 40 times to that client itself":                      {run + unheard + idlingAs("a.2", 2, 42, func(int) string { return gives }) + late, "missed-execution:1"},
		"granted 40 times while a request is not answered":            {run + strings.Replace(without, "1.52 a acquire:ok h2 token=2", "", 1) + idling(2, 40) + "40 a acquire:info h2\n" + late, "missed-execution:1"},
		"40 that release twice, the first without an answer":          {run + dead + idlingAs("c", 2, 42, func(int) string { return giveUnheard + gives }) + late, "missed-execution:1"},
		"40 of which one in ten has no answer": {run + dead + idlingAs("c", 2, 42, func(at int) string {
			if at%10 == 0 {
				return giveUnheard
			}
			return gives
		}) + late, "missed-execution:1"},
		"the guard of a long job withholds its record":       {run + inVain("fail h2 code=guard", "39.7 a release h2\n39.8 a release:ok h2\n"+late), ""},
		"the record of a long job does not arrive":           {run + inVain("info h2", "39.7 a release h2\n39.8 a release:ok h2\n"+late), ""},
		"a guard withholds a record before the work":         {run + inOrder(strings.Replace(inVain("fail h2 code=guard", "39.7 a release h2\n39.8 a release:ok h2\n"+late), "39.6", "1.7", 1)), "missed-execution:1"},
		"40 guards withhold a record before the work":        {run + inOrder(dead+idlingAs("c", 2, 42, withheld)+late), "missed-execution:1"},
		"a client dies at its work":                          {run + inOrder(strings.Replace(dead, "1.60 a exit h2", "1.6 a write h2 value=2/h2 base=1/h1 work=38\n1.7 a exit h2", 1)+probed(2, 40, "ok")+"45 harness phase heal"), "missed-execution:1"},
		"slots that are behind, and run one after the other": {run + slow(20, "1/h1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := verdicts(t, jobsPlan(history.AtLeastOnce), test.text, test.want)
			p := propertyOf(result, model.MissedExecution)
			if want := unclear[name]; test.want == "" && p.Verdict != cmp.Or(want, model.Pass) {
				t.Errorf("%s: %s", p.Verdict, p.Reason)
			}
			if !strings.Contains(p.Reason, why[name]) {
				t.Errorf("%s\nwant %s", p.Reason, why[name])
			}
		})
	}
}

// slow is a schedule whose jobs take 3 s each: the later its slot, the longer after it a job is run.
func slow(n int, found string) (text string) {
	for i := range n {
		slot := i + 2
		record := fmt.Sprintf("%d/s%d", slot, slot)
		text += turn(float64(3*i+4), "c", fmt.Sprint("s", slot), fmt.Sprint(slot+10), found, record) + fmt.Sprintf("%.1f harness probe:invoke %d\n%.2f harness probe:ok %d\n", float64(3*i+4)+.2, slot, float64(3*i+4)+.25, slot)
		found = record
	}
	return text + fmt.Sprintf("%d harness phase heal", 3*n+5)
}

func TestWordsOfAJobThatNoClientRan(t *testing.T) {
	text := turn(1, "a", "h1", "1", "", "1/h1") + "1.2 nemesis kill:invoke 7 target=a\n" + dead[:strings.Index(dead, "2.00")] + "1.7 nemesis kill:ok 7 target=a\n1.8 nemesis kill:heal 7 target=a\n1.9 nemesis kill:healed 7 target=a\n2.00 b acquire h3\n" + probed(2, 40, "ok") + "45 harness phase heal"
	result, _ := judgeText(t, jobsPlan(history.AtLeastOnce), text)
	f := propertyOf(result, model.MissedExecution).Findings[0]
	if want := "slot 2 of k, due at 2.000 s, was run by no client for 43.0 s, although b waited for the lock: more than the 30.0 s allowed"; !strings.Contains(f.Summary, want) {
		t.Errorf("%s\nwant %s", f.Summary, want)
	}
	for _, want := range []string{"b asked for k", "slot 2 of k was due", "it should have been run by now", "a wrote 1/h1"} {
		if !strings.Contains(storyText(f), want) {
			t.Errorf("the story lacks %q:\n%s", want, storyText(f))
		}
	}
	if f.Cause.Fault == 0 || !strings.Contains(f.Cause.Text, "a kill of a") {
		t.Errorf("%+v", f.Cause)
	}
	after := strings.Replace(text, "45 harness", "41 d acquire d1\n41.1 d acquire:ok d1 token=3\n42 d exit\n"+idling(43, 47)+"50 harness", 1) // d may keep it: not counted
	result, _ = judgeText(t, jobsPlan(history.AtLeastOnce), after)
	if got, want := propertyOf(result, model.MissedExecution).Findings[0].Summary, "for 39.1 s, although b waited for the lock"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	elsewhere := jobsPlan(history.AtLeastOnce)
	elsewhere.SameKernel = false
	if result, _ := judgeText(t, elsewhere, text); propertyOf(result, model.MissedExecution).Verdict != model.NotApplicable {
		t.Errorf("servers elsewhere: %+v", propertyOf(result, model.MissedExecution))
	}
	elsewhere.Attached = &history.Attached{}
	if result, _ := judgeText(t, elsewhere, text); !strings.Contains(propertyOf(result, model.MissedExecution).Reason, "others run the servers") {
		t.Errorf("attached: %+v", propertyOf(result, model.MissedExecution))
	}
}

// By when a slot should have been run is told by the time that counts: none before the service took plain writes, and none in which the run was
// disturbed, so that a fault of just before that moment is looked at, too.
func TestByWhenAJobShouldHaveBeenRun(t *testing.T) {
	fault := "33.5 nemesis pause:invoke 7 target=b\n33.6 nemesis pause:ok 7 target=b\n33.7 nemesis pause:heal 7 target=b\n34 nemesis pause:healed 7 target=b\n"
	writes := probed(3, 8, "info") + probed(9, 64, "ok")
	for name, test := range map[string]struct {
		text  string
		due   string
		cause string
	}{
		"from when it was due":                   {dead + probed(2, 62, "ok"), "32.000 s", ""},
		"not while the machine stood still":      {dead + "5 harness stall from=3.5\n" + probed(2, 62, "ok"), "33.500 s", ""},
		"not before the service takes writes":    {dead + writes, "38.900 s", ""},
		"nor while the machine stood still then": {dead + "11 harness stall from=9.5\n" + writes, "40.400 s", ""},
		"a fault before that":                    {dead + fault + writes, "39.400 s", "pause"},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, jobsPlan(history.AtLeastOnce), turn(1, "a", "h1", "1", "", "1/h1")+inOrder(test.text)+"65 harness phase heal")
			p := propertyOf(result, model.MissedExecution)
			if len(p.Findings) != 1 {
				t.Fatalf("%s: %s", p.Verdict, p.Reason)
			}
			f := p.Findings[0]
			if got := history.Moment(f.AtNS); got != test.due {
				t.Errorf("due by %s, want %s", got, test.due)
			}
			if !strings.Contains(f.Cause.Kind, test.cause) || test.cause == "" && f.Cause.Fault != 0 {
				t.Errorf("the cause is %+v, want %q", f.Cause, test.cause)
			}
		})
	}
}

// inOrder are the lines of a history by the moments they begin with.
func inOrder(text string) string {
	at := func(line string) float64 {
		ns, _, _ := strings.Cut(line, " ")
		s, _ := strconv.ParseFloat(ns, 64)
		return s
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' })
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	return strings.Join(lines, "\n") + "\n"
}

// A client that records a slot first keeps the lock until its job is done, and runs no other slot under it, unless another was granted the
// lock meanwhile. That its answer is not read makes no difference.
func TestAJobThatIsRecordedFirstMayTakeLong(t *testing.T) {
	mark := turn(1, "a", "h1", "1", "", "1/h1")
	released := func(at string) string {
		return strings.NewReplacer("1.090", at+".090", "1.100", at+".100").Replace(mark)
	}
	heal := probed(2, 42, "ok") + "45 harness phase heal"
	waits := "2.00 b acquire h3\n" + heal
	unread := strings.Replace(released("41"), "1.080 a write:ok h1", "1.080 a write:info h1\n1.2 a read h1\n1.3 @ read h1 token=1\n1.4 a read:ok h1", 1)
	kept, _, _ := strings.Cut(mark, "1.090")
	lost := strings.NewReplacer("release:ok", "release:fail", " owned=true held=1.085", " code=not-owned").Replace(released("80"))
	for name, test := range map[string]struct {
		text  string
		wants map[history.Execution]model.Verdict
		words string
	}{
		"it works":                       {released("41") + heal, map[history.Execution]model.Verdict{history.AtMostOnce: model.Pass, history.AtLeastOnce: model.Violation}, "although a had the lock: "},
		"it works, its record is unread": {unread + waits, map[history.Execution]model.Verdict{history.AtMostOnce: model.Pass, history.AtLeastOnce: model.Violation}, "although b waited for the lock: "},
		"its release has no answer":      {strings.Replace(mark, "release:ok h1 owned=true held=1.085", "release:info h1", 1) + waits, map[history.Execution]model.Verdict{history.AtMostOnce: model.Inconclusive, history.AtLeastOnce: model.Inconclusive}, ""},
		"its session is gone":            {kept + "1.5 a lease:fail h1\n41 a release h1\n41 a release:info h1\n" + waits, map[history.Execution]model.Verdict{history.AtMostOnce: model.Violation, history.AtLeastOnce: model.Violation}, "although b waited for the lock: "},
		"it is told of its loss":         {kept + "1.5 a lost h1\n41 a release h1\n41 a release:info h1\n" + waits, map[history.Execution]model.Verdict{history.AtMostOnce: model.Inconclusive, history.AtLeastOnce: model.Inconclusive}, ""},
		"it never gives its lock back":   {kept + waits, map[history.Execution]model.Verdict{history.AtMostOnce: model.Inconclusive, history.AtLeastOnce: model.Inconclusive}, ""},
		"others were granted its lock":   {lost + idling(3, 79) + "85 harness phase heal", map[history.Execution]model.Verdict{history.AtMostOnce: model.Violation, history.AtLeastOnce: model.Violation}, "although the lock was granted 7"},
	} {
		for execution, want := range test.wants {
			result, _ := judgeText(t, jobsPlan(execution), inOrder(test.text))
			p := propertyOf(result, model.MissedExecution)
			if p.Verdict != want {
				t.Errorf("%s, %s: %s: %s", name, execution, p.Verdict, p.Reason)
			} else if want == model.Violation && !strings.Contains(p.Findings[0].Summary, test.words) {
				t.Errorf("%s, %s: %s\nwant %s", name, execution, p.Findings[0].Summary, test.words)
			}
		}
	}
}

// A client does the job of a slot that it records after it, whatever comes of the record: from when the write is asked for until its answer, and no
// less than its work if it was given up. Where the slot is recorded first, a write without a record is no job.
func TestWhenAJobIsDone(t *testing.T) {
	run := turn(1, "a", "h1", "1", "", "1/h1")
	const gives, heal = "39.7 a release h2\n39.8 a release:ok h2\n", "42 b acquire:ok h3 token=3\n45 harness phase heal"
	write := func(work, answer, end string) string {
		text := strings.Replace(dead, "1.60 a exit h2", "1.6 a write h2 value=2/h2 base=1/h1 work="+work, 1)
		return run + inOrder(text+answer+probed(2, 40, "ok")+end)
	}
	for name, test := range map[string]struct {
		text        string
		least, most string // what is violated
	}{
		"withheld after its work":             {write("38", "39.6 a write:fail h2 code=guard\n", gives+heal), "", "missed-execution:1"},
		"withheld just after its work":        {write("38", "39.6 a write:fail h2 code=unanswered\n", gives+heal), "", "missed-execution:1"},
		"withheld sooner than its work takes": {write("38.1", "39.6 a write:fail h2 code=guard\n", gives+heal), "missed-execution:1", "missed-execution:1"},
		"failed":                              {write("38", "1.7 a write:fail h2 code=refused\n", gives+heal), "missed-execution:1", "missed-execution:1"},
		"without an answer, of a short job":   {write("1", "39.6 a write:info h2\n", gives+heal), "", "missed-execution:1"},
		"given up, and its client goes on":    {write("38", "1.7 a write:info h2\n1.8 a.2 release h2\n1.9 a.2 release:ok h2\n", heal), "liveness:1", "missed-execution:1 liveness:1"},
		"given up, and its client ends":       {write("38", "1.7 a write:info h2\n1.8 a.2 release h2\n1.9 a.2 release:ok h2\n2.5 a exit\n", heal), "missed-execution:1 liveness:1", "missed-execution:1 liveness:1"},
		"given up, and its client ends at it": {write("50", "1.7 a write:info h2\n1.8 a.2 release h2\n1.9 a.2 release:ok h2\n39.6 a exit\n", heal), "liveness:1", "missed-execution:1 liveness:1"},
		"given up, and its client is paused":  {write("38", "1.62 nemesis pause:invoke 1 target=a\n1.62 nemesis pause:ok 1 target=a\n1.7 a write:info h2\n36.1 nemesis pause:heal 1 target=a\n36.1 nemesis pause:healed 1 target=a\n", "75 a.2 release h2\n75.1 a.2 release:ok h2\n75.2 b acquire:ok h3 token=3\n76 harness phase heal"), "", "missed-execution:1"},
		"given up after its work":             {write("1", "4.6 a write:info h2\n4.7 a.2 release h2\n4.8 a.2 release:ok h2\n", heal), "missed-execution:1 liveness:1", "missed-execution:1 liveness:1"},
		"never answered":                      {write("1", "1.8 a.2 release h2\n1.9 a.2 release:ok h2\n", heal), "liveness:1", "missed-execution:1 liveness:1"},
		"a read that takes as long is none":   {strings.Replace(write("38", "39.6 a read:info h2\n", gives+heal), "write h2 value=2/h2 base=1/h1 work=38", "read h2", 1), "missed-execution:1", "missed-execution:1"},
	} {
		t.Run(name, func(t *testing.T) {
			verdicts(t, jobsPlan(history.AtLeastOnce), test.text, test.least)
			verdicts(t, jobsPlan(history.AtMostOnce), test.text, test.most)
		})
	}
}
