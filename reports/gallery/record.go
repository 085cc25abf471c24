package gallery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rate"
	"lockcheck/reports/rundir"
)

// The files of a gallery's directory.
const (
	JSONFile   = "gallery.json"
	HTMLFile   = "gallery.html"
	LatestLink = "latest-gallery"
	namePrefix = "gallery-"
)

// FormatVersion is that of gallery.json.
const FormatVersion = 1

// Record is what came of scenarios that were run together.
type Record struct {
	Version     int       `json:"version"`
	Lockcheck   string    `json:"lockcheck"`
	Seed        int64     `json:"seed"` // of every run
	StartedAt   time.Time `json:"started_at"`
	Repeat      int       `json:"repeat,omitempty"`      // runs of each item, if there are several: the next has the next seed
	UntilKnown  float64   `json:"until_known,omitempty"` // the half width of a rate's interval at which an item ends
	Provider    string    `json:"provider,omitempty"`    // that all runs were asked to be made with; "" if that was left to their scenarios
	Interrupted bool      `json:"interrupted"`
	ExitCode    int       `json:"exit_code"`
	Items       []Item    `json:"items"`
}

// Item is one half of a scenario, and what came of it.
type Item struct {
	Name    string          `json:"name"`
	Half    config.HalfName `json:"half"`
	File    string          `json:"file,omitempty"` // of a user's own scenario
	Title   string          `json:"title"`
	Expects string          `json:"expects"`
	// Of the scenario, for the page.
	Reference string           `json:"reference"`
	Teaches   string           `json:"teaches"`
	Because   string           `json:"because,omitempty"` // why the contrast does not fail
	FixedIn   string           `json:"fixed_in,omitempty"`
	Measured  *config.Measured `json:"measured"` // of the failure; null if not measured

	Command []string     `json:"command"`
	Outcome Outcome      `json:"outcome"`
	Reason  string       `json:"reason,omitempty"` // why it is not reproduced
	Run     *compare.Run `json:"run,omitempty"`    // of several the first with the outcome
	// Repeated are all runs if there may be several; nil for one.
	Repeated *Repeated `json:"repeated,omitempty"`
	InPod    bool      `json:"in_pod,omitempty"` // a pod of a campaign made the run, on a machine that no user watched
}

// Repeated is how often an item was reproduced, of the runs that could tell.
type Repeated struct {
	Planned    int           `json:"planned"`
	UntilKnown float64       `json:"until_known,omitempty"`
	Reproduced int           `json:"reproduced"`
	Conclusive int           `json:"conclusive"`
	Share      float64       `json:"share"`
	ShareLow   float64       `json:"share_low"`
	ShareHigh  float64       `json:"share_high"`
	Runs       []compare.Run `json:"runs"` // in the order of their seeds
}

// String is such as "3 of 20 (15 %, 95 % interval 3 to 38 %)".
func (r Repeated) String() string { return r.rate().String() }

func (r Repeated) rate() rate.Rate {
	looks := 1
	if r.UntilKnown > 0 {
		looks = len(rate.Looks(r.Planned))
	}
	return rate.Rate{Hits: r.Reproduced, Runs: r.Conclusive, Looks: looks}
}

// over reports whether the runs ended because their rate was known.
func (r Repeated) over() bool {
	return r.UntilKnown > 0 && rate.Known(len(r.Runs), r.Planned, r.UntilKnown, r.rate())
}

// runs are all of the item.
func (i Item) runs() []compare.Run {
	switch {
	case i.Repeated != nil:
		return i.Repeated.Runs
	case i.Run != nil:
		return []compare.Run{*i.Run}
	}
	return nil
}

// Kept are the runs that are not made again when a gallery is resumed.
func (i Item) Kept(half config.Half) []compare.Run {
	return slices.DeleteFunc(slices.Clone(i.runs()), func(run compare.Run) bool {
		outcome, _ := i.judge(half, run)
		return !slices.Contains([]Outcome{Reproduced, NotReproduced, Inconclusive}, outcome)
	})
}

// words are the outcome, with how often it came of several runs.
func (i Item) words() string {
	if i.Repeated == nil || len(i.Repeated.Runs) == 0 {
		return string(i.Outcome)
	}
	return string(i.Outcome) + ": " + i.Repeated.String()
}

// Code is the exit code that the items come to: what is not reproduced outranks what could not be found out.
func (r Record) Code() int {
	if r.Interrupted {
		return exitInterrupted
	}
	code, worst := 0, -1
	for _, item := range r.Items {
		c, rank := item.code()
		if rank > worst {
			code, worst = c, rank
		}
	}
	return code
}

// code is an item's exit code, and its rank among those of others.
func (i Item) code() (code, rank int) {
	switch i.Outcome {
	case Reproduced:
		return 0, 0
	case Inconclusive, NotRun:
		return 2, 1
	case Unavailable:
		return exitUnavailable, 2
	case NotReproduced:
		return 1, 3
	}
	if i.Run != nil && i.Run.ExitCode > 2 {
		return i.Run.ExitCode, 4
	}
	return exitDefect, 4
}

// Write prints the record as JSON.
func (r Record) Write(w io.Writer) error { return rundir.EncodeIndented(w, r) }

// Save writes gallery.json and the page into a directory.
func (r Record) Save(dir string) error {
	return errors.Join(rundir.WriteAtomically(filepath.Join(dir, JSONFile), r.Write),
		rundir.WriteAtomically(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return HTML(w, r) }))
}

// Read reads the gallery.json of a directory.
func Read(dir string) (r Record, err error) {
	path := filepath.Join(dir, JSONFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r, fmt.Errorf("%s is no directory of lockcheck gallery: it has no %s", dir, JSONFile)
	case err != nil:
		return r, err
	}
	if r, err = Parse(text); err != nil {
		return r, fmt.Errorf("%s %w", path, err)
	}
	return r, nil
}

// Parse is the record that a gallery.json has. Its error follows what names the file.
func Parse(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("cannot be read: %w", err)
	}
	if r.Version != FormatVersion {
		return r, fmt.Errorf("is of format %d; this lockcheck reads %d", r.Version, FormatVersion)
	}
	return r, nil
}

// CreateDir makes the directory of a new gallery, out/gallery-<time>, and points out/latest-gallery at it.
func CreateDir(out string, now time.Time) (string, error) {
	return rundir.CreateMany(out, namePrefix, LatestLink, compare.RunsDir, now)
}
