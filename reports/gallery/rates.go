package gallery

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"lockcheck/reports/compare/config"
	"lockcheck/reports/rate"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// RateOf is how often the failure of a scenario was reproduced.
type RateOf struct {
	Name     string   `json:"name"`
	Measured *Counted `json:"measured"` // as its file says; null if not measured
	Here     *Counted `json:"here"`     // by the gallery with the most runs that could tell, of those that are kept; null if there is none
	// Last is when it was last reproduced in a kept gallery, and Commit the lockcheck that did.
	Last   *time.Time `json:"last_reproduced_at"`
	Commit string     `json:"last_reproduced_by,omitempty"`
}

// Counted is a rate with its exact interval.
type Counted struct {
	Reproduced int     `json:"reproduced"`
	Conclusive int     `json:"conclusive"`
	Share      float64 `json:"share"`
	ShareLow   float64 `json:"share_low"`
	ShareHigh  float64 `json:"share_high"`
	words      string
}

func counted(r rate.Rate) *Counted {
	low, high := r.Interval()
	return &Counted{r.Hits, r.Runs, r.Share(), low, high, r.String()}
}

func (c *Counted) String() string {
	if c == nil {
		return "–"
	}
	return c.words
}

// ReadAll reads the galleries that a directory has, the oldest first.
func ReadAll(out string) (all []Record, err error) {
	if _, err := os.Stat(out); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	dirs, err := filepath.Glob(filepath.Join(out, namePrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		r, err := Read(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Record) int { return a.StartedAt.Compare(b.StartedAt) })
	return all, nil
}

// NewRateOf is the rate of a scenario in its file and in galleries, the oldest first. Galleries are not added up: they may be of different versions, and have
// runs of the same seeds.
func NewRateOf(s config.Scenario, galleries []Record) RateOf {
	r := RateOf{Name: s.Name}
	if m := s.Measured; m != nil {
		r.Measured = counted(rate.Rate{Hits: m.Reproduced, Runs: m.Seeds})
	}
	for _, g := range galleries {
		for _, item := range g.Items {
			if item.Name != s.Name || item.Half != config.Failure || item.File != "" {
				continue
			}
			at := item.rate()
			if at.Runs > 0 && (r.Here == nil || at.Runs >= r.Here.Conclusive) {
				r.Here = counted(at)
			}
			if at.Hits > 0 {
				r.Last, r.Commit = &g.StartedAt, g.Lockcheck
			}
		}
	}
	return r
}

// rate is that of the item's runs, also of a single one.
func (i Item) rate() (r rate.Rate) {
	switch {
	case i.Repeated != nil:
		return i.Repeated.rate()
	case i.Outcome == Reproduced:
		return rate.Rate{Hits: 1, Runs: 1}
	case i.Outcome == NotReproduced:
		return rate.Rate{Runs: 1}
	}
	return r
}

// RateTable shows rates, a line each.
func RateTable(w io.Writer, rates []RateOf) error {
	table := terminal.NewTable(w, []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignLeft, tw.AlignLeft}, nil)
	table.Header([]string{"scenario", "reproduced as measured", "in kept galleries", "last, and by"})
	for _, r := range rates {
		last := "–"
		if r.Last != nil {
			last = strings.TrimSpace(r.Last.UTC().Format(time.DateOnly) + " " + words.Clip(words.Plain(r.Commit), 12))
		}
		if err := table.Append([]string{r.Name, r.Measured.String(), r.Here.String(), last}); err != nil {
			return err
		}
	}
	return table.Render()
}
