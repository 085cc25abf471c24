package gallery

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// An item ends at a look once its rate is known, as a cell does: then no run of it is missing. Its interval has a share of what all looks may miss.
func TestAnItemWhoseRateIsKnown(t *testing.T) {
	half := expecting(want(model.StaleWrite, model.Violation))
	half.Name = config.Failure
	miss, hit := ran(model.Pass, is(model.StaleWrite, model.Pass)), ran(model.Violation, is(model.StaleWrite, model.Violation))
	for name, test := range map[string]struct {
		runs    []compare.Run
		known   float64
		outcome Outcome
		says    string
	}{
		"known at a look":      {slices.Repeat([]compare.Run{miss}, 10), 0.25, NotReproduced, "0 of 10 (0 %, 95 % interval 0 to 40 %)"}, // 0 to 31 % of one look
		"between looks":        {slices.Repeat([]compare.Run{miss}, 11), 0.25, NotRun, "0 of 11"},
		"not known at a look":  {slices.Repeat([]compare.Run{miss}, 10), 0.15, NotRun, "0 of 10"},
		"all that may be made": {slices.Repeat([]compare.Run{miss}, 40), 0.01, NotReproduced, "0 of 40"},
		"one shows it":         {append(slices.Repeat([]compare.Run{miss}, 9), hit), 0.25, Reproduced, "1 of 10"},
	} {
		item := Item{Name: "a", Half: half.Name, Repeated: &Repeated{Planned: 40, UntilKnown: test.known}}
		if at := item.Rate(half, test.runs); !strings.HasPrefix(at.String(), test.says) || item.Repeated.Runs != nil {
			t.Errorf("%s: %v, and it holds %d runs", name, at, len(item.Repeated.Runs))
		}
		if item.Take(half, test.runs); item.Outcome != test.outcome || !strings.HasPrefix(item.Repeated.String(), test.says) {
			t.Errorf("%s: %s", name, Line(item))
		}
	}
}

// The rate of a scenario is that of its file, and of the kept gallery with the most runs; which galleries there are says when it was last reproduced.
func TestRatesOfScenarios(t *testing.T) {
	out := t.TempDir()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, r := range []Record{
		{Lockcheck: "first", Items: []Item{{Name: "a", Half: config.Failure, Repeated: &Repeated{Planned: 20, Reproduced: 3, Conclusive: 20}}}},
		{Lockcheck: "second", Items: []Item{{Name: "a", Half: config.Failure, Outcome: Reproduced}, {Name: "b", Half: config.Failure, Outcome: NotReproduced}}},
		{Lockcheck: "third", Items: []Item{{Name: "a", Half: config.Failure, Outcome: NotReproduced}, {Name: "b", Half: config.Contrast, Outcome: Reproduced}, {Name: "c", Half: config.Failure, Outcome: Unavailable},
			{Name: "b", Half: config.Failure, File: "/b.yaml", Outcome: Reproduced}}},
	} {
		r.Version, r.StartedAt = FormatVersion, at.AddDate(0, 0, i)
		dir := filepath.Join(out, namePrefix+r.Lockcheck)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	galleries, err := ReadAll(out)
	if err != nil || len(galleries) != 3 {
		t.Fatalf("%d, %v", len(galleries), err)
	}
	var rates []RateOf
	for _, name := range []string{"a", "b", "c"} {
		s := config.Scenario{Name: name}
		if name == "a" {
			s.Measured = &config.Measured{Seeds: 7, Reproduced: 7}
		}
		rates = append(rates, NewRateOf(s, galleries))
	}
	a, b, c := rates[0], rates[1], rates[2]
	if a.Measured.String() != "7 of 7 (100 %, 95 % interval 59 to 100 %)" || a.Here.String() != "3 of 20 (15 %, 95 % interval 3 to 38 %)" || a.Commit != "second" || !a.Last.Equal(at.AddDate(0, 0, 1)) {
		t.Errorf("%+v, %v, %v", a, a.Measured, a.Here)
	}
	if b.Measured != nil || b.Here.String() != "0 of 1 (0 %, 95 % interval 0 to 98 %)" || b.Last != nil || c.Here != nil {
		t.Errorf("%+v, %+v", b, c)
	}
	var text strings.Builder
	if err := RateTable(&text, rates); err != nil || !strings.Contains(text.String(), "2026-11-02 second") {
		t.Errorf("%v:\n%s", err, &text)
	}
	if said := Sentence(Record{Repeat: 160, UntilKnown: 0.15}); !strings.Contains(said, "in at most 160 runs each") {
		t.Errorf("runs that may have ended earlier: %q", said)
	}
	if none, err := ReadAll(filepath.Join(out, "none")); err != nil || none != nil {
		t.Errorf("no directory: %v, %v", none, err)
	}
	if err := os.WriteFile(filepath.Join(out, namePrefix+"first", JSONFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAll(out); err == nil {
		t.Error("a gallery that cannot be read is passed over")
	}
}
