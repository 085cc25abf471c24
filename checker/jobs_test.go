package checker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// jobsPlan has a slot every second.
func jobsPlan(execution history.Execution) history.Plan {
	p := plainPlan()
	p.Workload, p.Resource, p.SlotMS, p.Execution = "jobs", history.ResourcePlain, 1000, execution
	return p
}

// turn is a hold of a client that finds a record, or none (""), and makes another, at a second and shortly after.
func turn(at float64, client, hold, token, found, record string) string {
	base := ""
	if found != "" {
		base = " base=" + found
	}
	t := func(after float64) string { return fmt.Sprintf("%.3f", at+after) }
	return strings.Join([]string{
		t(.01) + " " + client + " acquire " + hold,
		t(.02) + " " + client + " acquire:ok " + hold + " token=" + token,
		t(.03) + " " + client + " read " + hold,
		t(.04) + " @ read " + hold + " token=" + token,
		t(.05) + " " + client + " read:ok " + hold,
		t(.06) + " " + client + " write " + hold + " value=" + record + base,
		t(.07) + " @ write " + hold + " token=" + token,
		t(.08) + " " + client + " write:ok " + hold,
		t(.09) + " " + client + " release " + hold,
		t(.10) + " " + client + " release:ok " + hold + " owned=true held=" + t(.085), "",
	}, "\n")
}

// overtaken is a client that reads, and is paused while another runs its slot; its own record comes behind the %s.
const overtaken = `
	2.00 a acquire h1
	2.01 a lease:ok h1 ttl=2 seen=2.00
	2.02 a acquire:ok h1 token=5
	2.03 a read h1
	2.04 @ read h1 token=5
	2.05 a read:ok h1
	2.06 a write h1 value=1/h1
	2.10 nemesis pause:invoke 1 target=a
	2.11 nemesis pause:ok 1 target=a
	4.20 b acquire h2
	4.21 b acquire:ok h2 token=6 seen=4.20
	4.22 b read h2
	4.23 @ read h2 token=6
	4.24 b read:ok h2
	4.25 b write h2 value=1/h2
	4.26 @ write h2 token=6
	4.27 b write:ok h2
	4.28 b release h2
	4.29 b release:ok h2 owned=true
	%s
	6.00 nemesis pause:heal 1 target=a
	6.01 nemesis pause:healed 1 target=a
	6.02 @ write h1 token=5 %s
	6.03 a write:ok h1
	6.04 a lost h1 held=2.09
	`

func TestDoubleExecution(t *testing.T) {
	fenced, cas := jobsPlan(history.AtLeastOnce), jobsPlan(history.AtLeastOnce)
	fenced.Resource, fenced.Fenced, cas.Resource = history.ResourceFenced, true, history.ResourceCAS
	rejected := strings.NewReplacer("%s", "", "token=5 %s", "token=5 rejected mark=6", "write:ok h1", "write:fail h1 code=rejected")
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want string
	}{
		"one slot after the other": {jobsPlan(history.AtLeastOnce), turn(1, "a", "h1", "1", "", "1/h1") + turn(2, "b", "h2", "2", "1/h1", "2/h2"), ""},
		"the invoice is sent twice": {jobsPlan(history.AtLeastOnce), strings.ReplaceAll(overtaken, "%s", ""),
			"stale-write:1 lost-update:1 resource-linearizability:1 double-execution:1"},
		"a mark that comes late is a second one": {jobsPlan(history.AtMostOnce), strings.ReplaceAll(overtaken, "%s", ""),
			"stale-write:1 lost-update:1 resource-linearizability:1 double-execution:1"},
		"what follows is run again, too": {jobsPlan(history.AtLeastOnce),
			fmt.Sprintf(overtaken, turn(5, "c", "h3", "7", "1/h2", "2/h3"), "") + turn(7, "c", "h4", "8", "1/h1", "2/h4") + turn(8, "b", "h5", "9", "2/h4", "3/h5"),
			"stale-write:1 lost-update:2 resource-linearizability:1 double-execution:2"},
		"another key's slot of that number": {jobsPlan(history.AtLeastOnce),
			turn(1, "a", "h1", "1", "", "1/h1") + strings.Replace(turn(2, "b", "h2", "2", "", "1/h2"), "acquire h2", "acquire h2 key=l", 1), ""},
		"a packet that comes twice is none": {jobsPlan(history.AtLeastOnce), turn(1, "a", "h1", "1", "", "1/h1") + "1.5 @ write h1 token=1 duplicate", ""},
		"rejected by its token":             {fenced, rejected.Replace(overtaken), ""},
		"rejected by its base":              {cas, rejected.Replace(overtaken), ""},
		"the resource knows the key":        {jobsPlan(history.Idempotent), fmt.Sprintf(overtaken, "", "duplicate first=6"), "double-execution:1"},
		"a resource that should know the key and does not": {jobsPlan(history.Idempotent), strings.ReplaceAll(overtaken, "%s", ""),
			"lost-update:1 resource-linearizability:1 double-execution:1"},
	} {
		t.Run(name, func(t *testing.T) {
			result := verdicts(t, test.plan, test.text, test.want)
			if p := propertyOf(result, model.DoubleExecution); p.Count > 0 && p.Incidents != 1 {
				t.Errorf("%d incidents", p.Incidents)
			}
		})
	}
}

// One superseded hold is one incident, whatever came of it; and the story of a slot that was run again because the register had been
// set back says so.
func TestTheJobsThatALateRecordDoublesAreOneIncident(t *testing.T) {
	result, _ := judgeText(t, jobsPlan(history.AtLeastOnce),
		fmt.Sprintf(overtaken, turn(5, "c", "h3", "7", "1/h2", "2/h3"), "")+turn(7, "c", "h4", "8", "1/h1", "2/h4"))
	doubled := propertyOf(result, model.DoubleExecution).Findings
	if result.Incidents != 1 || len(doubled) != 2 || doubled[0].Incident != propertyOf(result, model.StaleWrite).Findings[0].Incident || doubled[1].Incident != doubled[0].Incident {
		t.Fatalf("%d incidents, %+v", result.Incidents, doubled)
	}
	for i, want := range [][]string{
		{"slot 1 of k was run twice: b recorded it at 4.260 s, and a once more at 6.020 s", "a paused (SIGSTOP) while it worked", "b wrote 1/h2", "slot 1 has been run", "a resumed", "a wrote 1/h1", "slot 1 has been run a second time"},
		{"slot 2 of k was run twice: c recorded it at 5.070 s, and c once more at 7.070 s", "c wrote 2/h3", "slot 2 has been run", "a wrote 1/h1", "k says slot 1 again, so what came after it is run once more", "c wrote 2/h4", "slot 2 has been run a second time"},
	} {
		f := doubled[i]
		rest := f.Summary + "\n" + storyText(f)
		for _, step := range want {
			_, after, found := strings.Cut(rest, step)
			if !found {
				t.Fatalf("%s lacks %q after what comes before it:\n%s", f.ID, step, storyText(f))
			}
			rest = after
		}
		if !strings.Contains(f.Cause.Text, "a was paused (SIGSTOP)") {
			t.Errorf("%s: %s", f.ID, f.Cause.Text)
		}
	}
}

// A second mark says that the job is about to be run again, not that it was.
func TestWordsOfASecondMark(t *testing.T) {
	result, _ := judgeText(t, jobsPlan(history.AtMostOnce), strings.ReplaceAll(overtaken, "%s", ""))
	f := propertyOf(result, model.DoubleExecution).Findings[0]
	if want := "slot 1 of k was marked twice to be run: b recorded it at 4.260 s, and a once more at 6.020 s"; f.Summary != want {
		t.Errorf("%s\nwant %s", f.Summary, want)
	}
	for _, want := range []string{"slot 1 is marked, and is run from here on", "slot 1 is marked a second time, and run once more"} {
		if !strings.Contains(storyText(f), want) {
			t.Errorf("the story lacks %q:\n%s", want, storyText(f))
		}
	}
}

// A mark whose client was not answered is one, and no story says that the job was run because of it.
func TestWordsOfAMarkThatWasNotAnswered(t *testing.T) {
	text := strings.Replace(strings.ReplaceAll(overtaken, "%s", ""), "6.03 a write:ok h1", "6.03 a write:info h1", 1)
	result, _ := judgeText(t, jobsPlan(history.AtMostOnce), text)
	p := propertyOf(result, model.DoubleExecution)
	if p.Verdict != model.Violation || p.Count != 1 {
		t.Fatalf("%s: %d", p.Verdict, p.Count)
	}
	story := storyText(p.Findings[0])
	for want, stands := range map[string]bool{
		"slot 1 is marked, and is run from here on":                                                  true, // of b
		"slot 1 is marked a second time, which was not answered: its client does not begin the work": true,
		"run once more": false,
	} {
		if strings.Contains(story, want) != stands {
			t.Errorf("%q: want %v:\n%s", want, stands, story)
		}
	}
}

// A slot that is run a third time is of the hold that ran it then, and of the one that had run it last: not of the first.
func TestASlotThatIsRunAThirdTimeIsOfWhoRanItLast(t *testing.T) {
	text := turn(1, "c", "h0", "1", "", "1/h0") + fmt.Sprintf(overtaken, "", "")
	result, _ := judgeText(t, jobsPlan(history.AtLeastOnce), text)
	doubled := propertyOf(result, model.DoubleExecution).Findings
	if len(doubled) != 2 {
		t.Fatalf("%+v", doubled)
	}
	last := doubled[1]
	if last.Incident != propertyOf(result, model.StaleWrite).Findings[0].Incident || !strings.Contains(last.Summary, "b recorded it at 4.260 s, and a once more at 6.020 s") ||
		!strings.Contains(last.Cause.Text, "a was paused (SIGSTOP)") {
		t.Errorf("of %s: %s: %s", last.Incident, last.Summary, last.Cause.Text)
	}
}

// A service without tokens gives a fenced resource nothing to compare: idempotency keys are what masks.
func TestIdempotencyKeysMaskWhereThereAreNoTokens(t *testing.T) {
	p := jobsPlan(history.Idempotent)
	p.Resource, p.Fenced, p.Tokens, p.TokensReason = history.ResourceFenced, true, history.TokensNone, "a lock without tokens"
	if p.Compares() != history.CompareKeys || p.Means() != history.IdempotencyKeys {
		t.Errorf("it compares %v, by %s", p.Compares(), p.Means())
	}
	p.Tokens = history.TokensOrdered
	if p.Compares() != history.CompareTokens || p.Means() != "idempotency keys and fencing" {
		t.Errorf("with tokens it compares %v, by %s", p.Compares(), p.Means())
	}
}

func TestASecondRecordThatItsKeyTellsApartIsMasked(t *testing.T) {
	result, judged := judgeText(t, jobsPlan(history.Idempotent), fmt.Sprintf(overtaken, "", "duplicate first=6")+"6.10 @ write h1 token=5 duplicate first=6\nfinal")
	p := propertyOf(result, model.DoubleExecution)
	if p.Verdict != model.Masked || p.Count != 1 || !strings.Contains(p.Reason, "answered the second record of each slot as the first") {
		t.Errorf("%+v", p)
	}
	if want := "a wrote 1/h1 with token 5, built on the initial value: not applied, slot 1 had its record"; !strings.Contains(storyText(p.Findings[0]), want) {
		t.Errorf("the story lacks %q:\n%s", want, storyText(p.Findings[0]))
	}
	if p := propertyOf(result, model.StaleWrite); p.Verdict != model.NotApplicable || !strings.Contains(p.Reason, "idempotency key") {
		t.Errorf("%+v", p)
	}
	if s := result.Stats.Jobs; s == nil || s.Recorded != 1 || s.Doubled != 0 || s.Deduplicated != 1 {
		t.Errorf("%+v", s)
	}
	if got := judged.Locks[0].Compared.Count(); got != 2 {
		t.Errorf("records of %d clients were compared", got)
	}
}

// J10 of jobs: an overlap is masked only if no job was run twice, by any means.
func TestOverlapIsMaskedByIdempotencyKeys(t *testing.T) {
	believed := strings.Replace(overtaken, "a lost h1 held=2.09", "a lost h1 held=4.5", 1)
	believed = strings.Replace(believed, "b release h2\n", "b release h2\n", 1)
	believed = strings.Replace(believed, "b write:ok h2", "b write:ok h2 held=4.26", 1)
	for text, want := range map[string]model.Verdict{fmt.Sprintf(believed, "", "duplicate first=6"): model.Masked, strings.ReplaceAll(believed, "%s", ""): model.Violation} {
		result, _ := judgeText(t, jobsPlan(history.Idempotent), text)
		if p := propertyOf(result, model.MutualExclusion); p.Verdict != want || p.Count != 1 {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}

// What a resource cannot do is a defect: a second record without keys, one of a slot that had none, one that names another slot's record.
func TestDuplicatesOfSlotsAreHeldAgainstTheLog(t *testing.T) {
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want string
	}{
		"without keys":          {jobsPlan(history.AtLeastOnce), fmt.Sprintf(overtaken, "", "duplicate first=6"), "although it has no idempotency keys"},
		"as another request":    {jobsPlan(history.Idempotent), fmt.Sprintf(overtaken, "", "duplicate first=5"), "which is not the first record of slot 1 of k"},
		"before any was there":  {jobsPlan(history.Idempotent), strings.Replace(turn(1, "a", "h1", "1", "", "1/h1"), "@ write h1 token=1", "@ write h1 token=1 duplicate first=9", 1), "which is not the first record"},
		"of no slot":            {jobsPlan(history.AtLeastOnce), turn(1, "a", "h1", "1", "", "v1"), "records no slot of a job"},
		"answered, and ignored": {jobsPlan(history.Idempotent), fmt.Sprintf(overtaken, "", "duplicate"), "is not in it"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Check(record(t, test.plan, test.text), Options{}); !errors.Is(err, model.ErrDefect) && !errors.Is(err, model.ErrCut) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
		})
	}
}

// Only runs with a schedule are judged by it: of others the properties are not listed, and asked for by name they are n/a.
func TestOnlyRunsOfJobsHaveThePropertiesOfJobs(t *testing.T) {
	ofJobs := []model.Name{model.DoubleExecution, model.MissedExecution}
	result, _ := judgeText(t, plainPlan(), "1 a acquire h1")
	for _, name := range ofJobs {
		if slices.Contains(result.Judged, name) || slices.Contains(result.NotJudged, name) || result.Property(name) != nil || result.Stats.Jobs != nil {
			t.Errorf("%s is listed: %v, %v", name, result.Judged, result.NotJudged)
		}
	}
	result, _, err := Check(record(t, plainPlan(), "1 a acquire h1"), Options{Properties: ofJobs})
	if err != nil || result.Verdict != model.Inconclusive || len(result.Properties) != 2 || result.Properties[0].Verdict != model.NotApplicable || result.Properties[0].Reason != "the run had no schedule of jobs (workload jobs)" {
		t.Errorf("%+v, %v", result, err)
	}
	if result, _ = judgeText(t, jobsPlan(history.AtLeastOnce), "1 a acquire h1"); result.Property(model.DoubleExecution) == nil || result.Property(model.MissedExecution) == nil {
		t.Errorf("%v", result.Judged)
	}
}

func TestExposureOfJobs(t *testing.T) {
	plan := jobsPlan(history.AtLeastOnce)
	plan.Exposure = []history.Requirement{{Name: history.ExposureRecorders, Min: 2}, {Name: history.ExposureSlots, Min: 2}}
	one := turn(1, "a", "h1", "1", "", "1/h1")
	for text, want := range map[string]string{
		"1 a acquire h1": "no record of a slot was applied; no slot was recorded as run",
		one:              "only 1 of at least 2 clients whose record of a slot the resource applied; only 1 of at least 2 slots recorded as run",
		one + turn(2, "a", "h2", "2", "1/h1", "2/h2"): "only 1 of at least 2 clients whose record of a slot the resource applied",
	} {
		result, _ := judgeText(t, plan, text+"\nfinal")
		if result.Verdict != model.Inconclusive || !strings.Contains(result.Reason, want) {
			t.Errorf("%s: %s\nwant %s", result.Verdict, result.Reason, want)
		}
	}
	if result, _ := judgeText(t, plan, one+turn(2, "b", "h2", "2", "1/h1", "2/h2")+"final"); result.Verdict != model.Pass {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
}

// Recorded before the work by a client whose process ended before the work was over.
func TestJobsThatWereMarkedAndNotRun(t *testing.T) {
	worked := strings.Replace(turn(1, "a", "h1", "1", "", "1/h1"), "value=1/h1", "value=1/h1 work=0.05", 1) // from 1.08 to 1.13
	marked, _, _ := strings.Cut(worked, "1.090")
	for name, test := range map[string]struct {
		execution history.Execution
		text      string
		want      int64
	}{
		"killed at its work":                  {history.AtMostOnce, marked + "1.12 a exit h1", 1},
		"killed after its work":               {history.AtMostOnce, marked + "1.14 a exit h1", 0},
		"killed, and its mark never answered": {history.AtMostOnce, strings.Replace(marked, "1.080 a write:ok h1\n", "", 1) + "1.5 a exit h1", 1},
		"of a mark of unknown outcome":        {history.AtMostOnce, strings.Replace(marked, "write:ok", "write:info", 1) + "1.5 a exit h1", 1},
		"released before":                     {history.AtMostOnce, worked + "1.5 a exit", 0},
		"asked to end":                        {history.AtMostOnce, marked + "1.09 a close\n1.1 a exit h1", 0},
		"told of its loss, went on":           {history.AtMostOnce, marked + "1.2 a lost h1\n1.3 a acquire h2\n1.5 a exit", 0},
		"told of its loss, killed while idle": {history.AtMostOnce, marked + "1.2 a lost h1\n1.5 a exit", 0},
		"told of its loss, killed at work":    {history.AtMostOnce, marked + "1.1 a lost h1\n1.11 a exit", 1},
		"the work was before":                 {history.AtLeastOnce, marked + "1.5 a exit h1", 0},
	} {
		result, _ := judgeText(t, jobsPlan(test.execution), test.text)
		if s := result.Stats.Jobs; s.MarkedOnly != test.want || s.Recorded != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A hold granted in the load may run a slot that falls due after the load ended. That slot counts as due.
func TestNoMoreSlotsAreRecordedThanWereDue(t *testing.T) {
	first, second := turn(1, "a", "h1", "1", "", "1/h1"), turn(2, "a", "h2", "2", "1/h1", "2/h2")
	asked, _, _ := strings.Cut(turn(1.9, "a", "h2", "2", "1/h1", "2/h2"), "1.950")
	_, read, _ := strings.Cut(turn(2.1, "a", "h2", "2", "1/h1", "2/h2"), "2.150") // slot 2 was due at 2 s
	late := asked + "1.99 harness phase heal\n2.150" + read
	rejected := strings.NewReplacer("@ write h2 token=2", "@ write h2 token=2 rejected", "write:ok h2", "write:fail h2 code=rejected").Replace(read)
	elsewhere := strings.Replace(turn(1.2, "b", "g1", "1", "", "1/g1"), "acquire g1", "acquire g1 key=l", 1)
	for name, test := range map[string]struct {
		text string
		want model.JobStats
	}{
		"all in the load":           {first + second + "2.5 harness phase heal", model.JobStats{Due: 2, Recorded: 2}},
		"two that no client ran":    {first + second + "4.5 harness phase heal", model.JobStats{Due: 4, Recorded: 2}},
		"the last after the load":   {first + late, model.JobStats{Due: 2, Recorded: 2}},
		"of one key, not the other": {first + elsewhere + late, model.JobStats{Due: 3, Recorded: 3}},
		"and a second time":         {first + late + turn(2.3, "b", "h3", "3", "1/h1", "2/h3"), model.JobStats{Due: 2, Recorded: 2, Doubled: 1}},
		"and one that is rejected":  {first + asked + "1.99 harness phase heal\n" + turn(2, "b", "h3", "3", "1/h1", "2/h3") + "2.150" + rejected, model.JobStats{Due: 2, Recorded: 2, Rejected: 1}},
		"of no time":                {first + strings.ReplaceAll(late, "2/h2", "9223372036854775807/h2"), model.JobStats{Due: 2, Recorded: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := jobsPlan(history.AtLeastOnce)
			if test.want.Rejected > 0 {
				plan.Fenced, plan.Resource = true, history.ResourceFenced
			}
			result, _ := judgeText(t, plan, test.text)
			if s := result.Stats.Jobs; *s != test.want {
				t.Errorf("%+v", s)
			}
		})
	}
}
