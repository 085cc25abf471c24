package hunt

import (
	"fmt"
	"path"

	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
	"lockcheck/reports/rundir"
)

// Record is the hunt so far as it is kept and shown. dir names it in the commands that go on with a find, and known are the finds that the user
// knows. What the journal does not have, such as the backend, is left to the caller.
func (h *Hunt) Record(dir string, known []config.Find) hunts.Record {
	r := hunts.Record{Version: hunts.FormatVersion, Lockcheck: h.Header.Lockcheck, Flags: h.Header.Flags, For: h.Header.For, Seed: h.Header.Seed,
		BudgetNS: int64(h.Header.Budget), SpentNS: int64(h.Spent()), Runs: []hunts.Run{}, Finds: []hunts.Find{}}
	shown := map[string]int{}
	for _, t := range h.Trials {
		run := hunts.Run{N: t.N, Chance: t.ByChance(), Nemesis: t.Nemesis, Kinds: kindsOf(t.Nemesis), Seed: t.Seed, EndedNS: int64(t.At),
			Verdict: t.Verdict, Barren: t.Barren, Covered: t.Covered, Dir: t.Dir}
		for _, m := range t.Margins {
			run.Margins = append(run.Margins, hunts.Margin{Property: m.Property, By: m.By})
		}
		for _, find := range t.Finds {
			run.Found = append(run.Found, find.Signature)
			shown[find.Signature]++
		}
		if !t.Keeps() {
			run.Dir = ""
		}
		r.Runs = append(r.Runs, run)
		for _, find := range t.News.New {
			r.Finds = append(r.Finds, newFind(len(r.Finds)+1, t, find, dir, known))
		}
	}
	for i := range r.Finds {
		r.Finds[i].Runs = shown[r.Finds[i].Signature]
	}
	return r
}

func newFind(n int, t Ended, find Find, dir string, known []config.Find) hunts.Find {
	f := hunts.Find{N: n, Signature: find.Signature, Property: find.Property, Party: find.Party, Shape: find.Shape, Cause: find.Cause, Summary: find.Summary,
		Finding: find.Finding, Gallery: find.Known, Run: t.N, Nemesis: t.Nemesis, Chance: t.ByChance(), EndedNS: int64(t.At)}
	if t.Dir != "" {
		f.Report = path.Join(t.Dir, rundir.ReportFile)
	}
	f.Shrink = []string{"lockcheck", "shrink", path.Join(dir, fmt.Sprint(n))}
	for _, k := range known {
		if k.Is(find.Property, find.Party, find.Shape) {
			f.Known, f.KnownAt = k.Reason, fmt.Sprintf("%s:%d", k.File, k.Line)
			break
		}
	}
	return f
}

// Keeps reports whether the run's directory is worth its room: it shows something, or came closer than those before.
func (e Ended) Keeps() bool { return len(e.Finds) > 0 || e.News.Closer }

func kindsOf(text string) string {
	spec, err := nemesis.Parse(text)
	if err != nil {
		return text
	}
	return spec.KindsOf()
}
