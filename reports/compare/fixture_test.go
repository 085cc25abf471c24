package compare

import (
	"lockcheck/checker"
)

// came is a run in which properties came out as named; those not named passed.
func came(verdict checker.Verdict, properties map[checker.Name]checker.Verdict) Run {
	run := Run{Verdict: verdict, Seed: 1, Sentence: "S", Story: []string{"what", "1.000 s  then"}, Command: []string{"lockcheck", "run"}, Ops: 100,
		Availability: 0.5, Dir: "runs/a", Report: "runs/a/report.html", DurationNS: 1e9,
		Exposure: []checker.Exposure{{Name: "pauses-past-the-lease", Count: 2, Min: 1}}}
	for _, name := range checker.Names() {
		p := Property{Name: name, Verdict: checker.Pass}
		if v, ok := properties[name]; ok {
			p.Verdict = v
			if v == checker.Violation || v == checker.Masked {
				p.Count, p.Incidents = 3, 2
			}
		}
		run.Properties = append(run.Properties, p)
	}
	switch verdict {
	case checker.Violation:
		at := int64(2e9)
		run.FirstNS, run.Incidents = &at, 2
	case checker.Inconclusive:
		run.Reason = "no pause outlived a lease"
	}
	return run
}

type verdicts = map[checker.Name]checker.Verdict

func overlapAndStale() Run {
	return came(checker.Violation, verdicts{checker.MutualExclusion: checker.Violation, checker.StaleWrite: checker.Violation})
}

func calm() Run { return came(checker.Pass, nil) }

func unexposed() Run { return came(checker.Inconclusive, nil) }

func failed(code int) Run { return Run{Error: "no such server", ExitCode: code} }

func expecting(wanted ...Wanted) *Expectation {
	return &Expectation{File: "lockcheck.yaml", Line: 10, Reason: "because", Expect: wanted}
}

func wanted(line int, name checker.Name, v ...checker.Verdict) Wanted { return Wanted{name, v, line} }

// pauseHarms is the classic, in lines 11 and 12.
func pauseHarms() *Expectation {
	return expecting(wanted(11, checker.MutualExclusion, checker.Violation), wanted(12, checker.StaleWrite, checker.Violation))
}
