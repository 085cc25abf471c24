package compare

import (
	"lockcheck/checker"
	"lockcheck/checker/model"
)

// came is a run in which properties came out as named; those not named passed.
func came(verdict model.Verdict, properties map[model.Name]model.Verdict) Run {
	run := Run{Verdict: verdict, Seed: 1, Sentence: "S", Story: []string{"what", "1.000 s  then"}, Command: []string{"lockcheck", "run"}, Ops: 100,
		Availability: 0.5, Dir: "runs/a", Report: "runs/a/report.html", DurationNS: 1e9,
		Exposure: []model.Exposure{{Name: "pauses-past-the-lease", Count: 2, Min: 1}}}
	for _, name := range checker.Names() {
		p := Property{Name: name, Verdict: model.Pass}
		if v, ok := properties[name]; ok {
			p.Verdict = v
			if v == model.Violation || v == model.Masked {
				p.Count, p.Incidents = 3, 2
			}
		}
		run.Properties = append(run.Properties, p)
	}
	switch verdict {
	case model.Violation:
		at := int64(2e9)
		run.FirstNS, run.Incidents = &at, 2
	case model.Inconclusive:
		run.Reason = "no pause outlived a lease"
	}
	return run
}

type verdicts = map[model.Name]model.Verdict

func overlapAndStale() Run {
	return came(model.Violation, verdicts{model.MutualExclusion: model.Violation, model.StaleWrite: model.Violation})
}

func calm() Run { return came(model.Pass, nil) }

func unexposed() Run { return came(model.Inconclusive, nil) }

func failed(code int) Run { return Run{Error: "no such server", ExitCode: code} }

func expecting(wanted ...Wanted) *Expectation {
	return &Expectation{File: "lockcheck.yaml", Line: 10, Reason: "because", Expect: wanted}
}

func wanted(line int, name model.Name, v ...model.Verdict) Wanted {
	return Wanted{Property: name, Verdicts: v, Line: line}
}

// pauseHarms is the classic, in lines 11 and 12.
func pauseHarms() *Expectation {
	return expecting(wanted(11, model.MutualExclusion, model.Violation), wanted(12, model.StaleWrite, model.Violation))
}

// seeded are runs of a cell whose first has a seed.
func seeded(first int64, runs ...Run) []Run {
	for i := range runs {
		runs[i].Seed = first + int64(i)
	}
	return runs
}
