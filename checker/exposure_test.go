package checker

import (
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A lock that lets all waiting clients in was not tested (J9). One that gave a grant away when its lease was over was.
func TestALockThatLetsAllClientsInWasNotTested(t *testing.T) {
	const (
		grant = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=s1`
		asks = `
		1.3 b acquire h2`
		letIn = `
		1.4 b acquire:ok h2 token=2 session=s2`
		release = `
		1.5 a release h1
		1.6 a release:ok h1`
		end = `
		1.7 b release h2
		1.8 b release:ok h2
		final`
	)
	for name, test := range map[string]struct {
		text string
		want model.Verdict
		says string
	}{
		"all are let in":             {grant + asks + letIn + release + end, model.Inconclusive, "kept out by 0 grants, and let in by 1"},
		"one waits, and is kept out": {grant + asks + release + strings.Replace(letIn, "1.4", "1.65", 1) + end, model.Pass, "1 grant of a lock"},
		"the lease was over":         {grant + "\n1.2 a lease:ok session=s1 ttl=0.28 seen=1.05" + asks + letIn + release + end, model.Pass, "1 grant of a lock"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := fencedPlan()
			plan.Exposure = []history.Requirement{{Name: history.ExposureContended, Min: 1}}
			result, _ := judgeText(t, plan, "tested fenced\n"+test.text)
			if at := result.Exposure[0]; result.Verdict != test.want || !strings.Contains(at.Text, test.says) {
				t.Errorf("%s (%s): %+v", result.Verdict, result.Reason, at)
			}
		})
	}
}

func TestExposuresAgreeInNumber(t *testing.T) {
	plan := plainPlan()
	plan.Exposure = []history.Requirement{{Name: "pauses-past-the-lease", Min: 3}, {Name: "losses", Min: 1}}
	once := strings.NewReplacer("token=33 %s", "token=33", "write:%s", "write:ok h1", "final", `
3.52 nemesis loss:invoke 2 target=c4
3.53 nemesis loss:ok 2 target=c4
3.54 nemesis loss:heal 2 target=c4
3.55 nemesis loss:healed 2 target=c4
final`).Replace(classic)
	result, _ := judgeText(t, plan, once)
	got := map[string]string{}
	for _, e := range result.Exposure {
		got[e.Name] = e.Text
	}
	for name, want := range map[string]string{
		"contended-grants":      "1 grant of a lock that another client was waiting for",
		"pauses":                "1 pause confirmed",
		"pauses-of-holders":     "1 pause of a client that believed it held a lock",
		"pauses-past-the-lease": "only 1 of at least 3 pauses of a holder that lasted past the end of its lease",
		"losses":                "1 stretch of packet loss confirmed",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q; all: %v", name, got[name], want, got)
		}
	}
}

func TestHoldsRenewedPastTheirFirstLease(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int64
	}{
		"renewed, and held on": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			2.5 a lease:ok session=s1 ttl=2 seen=2.4
			3.5 a release h1
			3.6 a release:ok h1 held=3.4`, 1},
		"renewed, and given back before": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			2.5 a lease:ok session=s1 ttl=2 seen=2.4
			2.9 a release h1
			3.0 a release:ok h1 held=2.8`, 0},
		"held on, and not renewed": {`
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			3.5 a release h1
			3.6 a release:ok h1 held=3.4`, 0},
	} {
		plan := plainPlan()
		plan.Exposure = []history.Requirement{{Name: history.ExposureRenewed, Min: 1}}
		result, _, err := Check(record(t, plan, test.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Exposure {
			if e.Name == history.ExposureRenewed && e.Count != test.want {
				t.Errorf("%s: %d, want %d", name, e.Count, test.want)
			}
		}
	}
}

// A plan whose holds are long only if leases are renewed requires one once it was asked for: not of clients that renew none.
func TestLongHoldsAreRequiredOfClientsThatRenew(t *testing.T) {
	const short, long = 120, 3000
	renewed := func(least int64) []history.Requirement {
		return []history.Requirement{{Name: history.ExposureRenewed, Min: least}}
	}
	pauses := []history.Round{{Steps: []history.Step{{Fault: "pause", Target: "client"}}}}
	for name, test := range map[string]struct {
		ifRenewed bool
		upTo      int64 // ms of ordinary work
		granted   int64 // ms, where 2000 were asked for
		work      string
		schedule  []history.Round
		list      []history.Requirement
		want      int64
	}{
		"one was asked for":               {true, short, 2000, "2.4", nil, nil, 1},
		"none was":                        {true, short, 2000, "0.1", nil, nil, 0},
		"none was, and the plan wants it": {false, short, 2000, "0.1", nil, nil, 1},
		"one just short of a lease, of which less was granted": {true, short, 1000, "1.6", nil, nil, 0},
		"more was granted than asked for":                      {true, short, 3000, "2.4", nil, nil, 0},
		"ordinary work is as long":                             {true, long, 2000, "2.5", nil, nil, 0},
		"longer than ordinary work":                            {true, long, 2000, "3.1", nil, nil, 1},
		"none was, and the list wants more":                    {true, short, 2000, "0.1", nil, renewed(2), 2},
		"none was, and only the list wants it":                 {true, short, 2000, "0.1", pauses, renewed(1), 1},
	} {
		plan := plainPlan()
		plan.TTLMS, plan.EffectiveMS, plan.Schedule = 2000, test.granted, test.schedule
		plan.Work = &history.Work{FromMS: 20, ToMS: test.upTo, Long: true, IfRenewed: test.ifRenewed}
		plan.Exposure = append(plan.Requirements(), test.list...)
		result, _, err := Check(record(t, plan, `
			1.0 a acquire h1
			1.1 a lease:ok session=s1 ttl=2 seen=1.0
			1.2 a acquire:ok h1 token=1 session=s1
			1.3 a write h1 value=1/h1 work=`+test.work+`
			1.8 a write:fail h1 value=1/h1 code=guard held=1.7
			1.9 a release h1
			2.0 a release:ok h1 held=1.8`), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(result.Exposure, func(e model.Exposure) bool { return e.Name == history.ExposureRenewed })
		if i < 0 || result.Exposure[i].Min != test.want {
			t.Errorf("%s: %+v", name, result.Exposure)
		}
	}
}
