package chance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"lockcheck/cmd/internal/hunt/smallworld"
)

// budget is in runs.
const budget = 100

// LOCKCHECK_HUNTS is how many searches are made for each defect and arm. Without it there are few of few defects: enough to see that all of it works, and nothing
// is claimed. LOCKCHECK_HUNTS_JOURNAL is a file that has the searches that ended, so that what was ended goes on. LOCKCHECK_HUNTS_ABLATIONS has hunts that
// lack a part, too.
func TestBetterThanChance(t *testing.T) {
	n, most, locks := 1, 12, smallworld.Bugs()[:4]
	text := os.Getenv("LOCKCHECK_HUNTS")
	if text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("LOCKCHECK_HUNTS is %q; a number of searches is needed", text)
		}
		most, locks = budget, smallworld.Bugs()
	}
	arms := Arms
	if os.Getenv("LOCKCHECK_HUNTS_ABLATIONS") != "" {
		arms = slices.Concat(Arms, Ablations)
	}
	made, note := journal(t)
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	began, runs := time.Now(), 0
	all, err := All(locks, arms, n, most, made, func(e Ended) error { runs += e.Runs; return note(e) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs, %.0f a second\n\n%s", runs, float64(runs)/time.Since(began).Seconds(), Table(all, locks, n, most))
	if len(arms) > len(Arms) {
		t.Log("\n" + Ratios(all, locks, Ablations))
	}
	if n >= 20 {
		if uniform := Compared(all, locks, Uniform); uniform.Mean < 2 || uniform.Low < 1.5 {
			t.Errorf("uniform/hunt is %v, want 2 or more, and 1.5 or more at the lower end", uniform)
		}
	}
}

// Hunts accuse no lock without a defect.
func TestControlsAreNotAccused(t *testing.T) {
	for _, l := range smallworld.Controls() {
		e, err := Search(l, Hunt, 1, 30)
		if err != nil {
			t.Fatal(err)
		}
		if e.Found {
			t.Errorf("%s is accused in run %d", l.Name, e.Runs)
		}
	}
}

// One seed and the same answers lead to the same decisions.
func TestAHuntDecidesTheSameAgain(t *testing.T) {
	decisions := func() (all []string) {
		l := smallworld.Controls()[0]
		next, learn := chooser(l, Hunt, 9)
		for range 60 {
			spec, seed := next()
			all = append(all, fmt.Sprint(spec, " ", seed))
			o, err := outcome(l, spec, seed)
			if err != nil {
				t.Fatal(err)
			}
			learn(o)
		}
		return all
	}
	if one, other := decisions(), decisions(); !slices.Equal(one, other) {
		t.Errorf("decided was %q, and then %q", one, other)
	}
}

// journal reads the searches that ended before, and notes further ones.
func journal(t *testing.T) (made []Ended, note func(Ended) error) {
	path := os.Getenv("LOCKCHECK_HUNTS_JOURNAL")
	if path == "" {
		return nil, func(Ended) error { return nil }
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	lines := json.NewDecoder(file)
	for {
		var e Ended
		at := lines.InputOffset()
		switch err := lines.Decode(&e); {
		case errors.Is(err, io.EOF):
		case errors.Is(err, io.ErrUnexpectedEOF): // a kill has cut the last line
			if err := file.Truncate(at); err != nil {
				t.Fatal(err)
			}
		case err != nil:
			t.Fatalf("%s at byte %d: %v", path, at, err)
		default:
			made = append(made, e)
			continue
		}
		break
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil && !errors.Is(err, fs.ErrInvalid) {
		t.Fatal(err)
	}
	return made, func(e Ended) error {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(file, "%s\n", line)
		}
		return err
	}
}
